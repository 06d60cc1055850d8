class Talosgen < Formula
  desc "Machine configurations of Talos clusters from Git, and the clusters at Hetzner Cloud"
  homepage "https://github.com/talosgen/talosgen"
  version "1.2.3-rc.1"

  on_macos do
    on_arm do
      url "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-darwin-arm64"
      sha256 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    end
    on_intel do
      url "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-darwin-amd64"
      sha256 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-linux-arm64"
      sha256 "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    end
    on_intel do
      url "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-linux-amd64"
      sha256 "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
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
