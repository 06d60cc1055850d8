{ lib, stdenvNoCC, fetchurl }:

let
  sources = {
    x86_64-linux = { url = "<<url "linux-amd64">>"; hash = "<<sri "linux-amd64">>"; };
    aarch64-linux = { url = "<<url "linux-arm64">>"; hash = "<<sri "linux-arm64">>"; };
    x86_64-darwin = { url = "<<url "darwin-amd64">>"; hash = "<<sri "darwin-amd64">>"; };
    aarch64-darwin = { url = "<<url "darwin-arm64">>"; hash = "<<sri "darwin-arm64">>"; };
  };
in
stdenvNoCC.mkDerivation {
  pname = "talosgen";
  version = "<<.Version>>";
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
