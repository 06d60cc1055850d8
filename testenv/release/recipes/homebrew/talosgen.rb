class Talosgen < Formula
  desc "Machine configurations of Talos clusters from Git, and the clusters at Hetzner Cloud"
  homepage "https://github.com/talosgen/talosgen"
  version "<<.Version>>"

  on_macos do
    on_arm do
      url "<<url "darwin-arm64">>"
      sha256 "<<sha256 "darwin-arm64">>"
    end
    on_intel do
      url "<<url "darwin-amd64">>"
      sha256 "<<sha256 "darwin-amd64">>"
    end
  end

  on_linux do
    on_arm do
      url "<<url "linux-arm64">>"
      sha256 "<<sha256 "linux-arm64">>"
    end
    on_intel do
      url "<<url "linux-amd64">>"
      sha256 "<<sha256 "linux-amd64">>"
    end
  end

  def install
    bin.install Dir["talosgen-*"].first => "talosgen"
    chmod 0755, bin/"talosgen"
    generate_completions_from_executable(bin/"talosgen", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match "talosgen #{version}", shell_output("#{bin}/talosgen version")
  end
end
