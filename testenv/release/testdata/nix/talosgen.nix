{ lib, stdenvNoCC, fetchurl }:

let
  sources = {
    x86_64-linux = { url = "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-linux-amd64"; hash = "sha256-zMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMzMw="; };
    aarch64-linux = { url = "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-linux-arm64"; hash = "sha256-3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d0="; };
    x86_64-darwin = { url = "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-darwin-amd64"; hash = "sha256-qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo="; };
    aarch64-darwin = { url = "https://github.com/talosgen/talosgen/releases/download/v1.2.3-rc.1/talosgen-darwin-arm64"; hash = "sha256-u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7s="; };
  };
in
stdenvNoCC.mkDerivation {
  pname = "talosgen";
  version = "1.2.3-rc.1";
  src = fetchurl sources.${stdenvNoCC.hostPlatform.system};
  dontUnpack = true;
  installPhase = "install -Dm755 $src $out/bin/talosgen";
  meta = {
    description = "Machine configurations of Talos clusters from Git, and the clusters at Hetzner Cloud";
    homepage = "https://github.com/talosgen/talosgen";
    platforms = builtins.attrNames sources;
    mainProgram = "talosgen";
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
