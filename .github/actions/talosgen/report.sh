#!/usr/bin/env bash
# Says at GitHub what was found, once: what an earlier run has said is changed, and
# of two runs at once one has the word. It needs GITHUB_API_URL and GITHUB_REPOSITORY,
# which every job has, GITHUB_TOKEN, and jq and curl.
#
#   report.sh comment <number> <file>   the comment on a pull request
#   report.sh open <env> <file>         the issue that tells of the drift of an environment
#   report.sh close <env>               it is in sync
set -euo pipefail
repository="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY"
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

api() {
  if ! curl -fsSL --header "Authorization: Bearer $GITHUB_TOKEN" --header 'Accept: application/vnd.github+json' "$@"; then
    echo "GitHub did not take what was found: does the job have the permission $permission?" >&2
    return 1
  fi
}

# send <method> <URL>: what jq writes.
send() {
  cat > "$temp/body.json"
  api --request "$1" --data @"$temp/body.json" "$2" > /dev/null
}

# ours <URL of a list>: what bots have said that begins with the mark, the oldest first.
ours() {
  local page
  for page in $(seq 50); do
    api "$1&per_page=100&page=$page" > "$temp/page.json" || return 1
    jq -r --arg mark "$mark" '.[] | select(.user.type == "Bot" and .pull_request == null and ((.body // "") | startswith($mark))) | .number // .id' "$temp/page.json"
    if [ "$(jq length "$temp/page.json")" -lt 100 ]; then
      return 0
    fi
  done
}

# once <URL of a list> <URL to make one> <URL of those that exist>: says what stands in
# $temp/said.json, and leaves in $found what says the same besides.
once() {
  look "$1"
  if [ ${#found[@]} -eq 0 ]; then
    send POST "$2" < "$temp/said.json"
    look "$1" # another run may have done the same
  fi
  if [ ${#found[@]} -gt 0 ]; then
    send PATCH "$3/${found[0]}" < "$temp/said.json"
  fi
  found=("${found[@]:1}")
}

look() {
  ours "$1" > "$temp/found"
  mapfile -t found < "$temp/found"
}

# said <file>: with the mark by which the next run knows it.
said() { { echo "$mark" && cat "$1"; } | jq -Rs --arg title "$title" '{title: $title, body: .}' > "$temp/said.json"; }

case "$1" in
  comment)
    permission='pull-requests: write' mark='<!-- talosgen-plan -->' title=
    said "$3"
    once "$repository/issues/$2/comments?" "$repository/issues/$2/comments" "$repository/issues/comments"
    for id in "${found[@]}"; do
      api --request DELETE "$repository/issues/comments/$id" > /dev/null 2>&1 || true # another run may have done it
    done
    ;;
  open | close)
    permission='issues: write' mark="<!-- talosgen-drift $2 -->" title="Drift of $2"
    list="$repository/issues?state=open&sort=created&direction=asc"
    if [ "$1" = open ]; then
      said "$3"
      once "$list" "$repository/issues" "$repository/issues"
      reason=not_planned
    else
      look "$list"
      reason=completed
    fi
    for id in "${found[@]}"; do
      jq -n --arg reason "$reason" '{state: "closed", state_reason: $reason}' | send PATCH "$repository/issues/$id"
    done
    ;;
  *)
    echo "report.sh comment <number> <file> | open <env> <file> | close <env>" >&2
    exit 2
    ;;
esac
