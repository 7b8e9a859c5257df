#!/bin/sh
# Installs Berth's packages. Nothing of a release is run or unpacked before its signature and its checksums are found
# right: the release's public key is in this file.
#
#   sh install.sh [--from FOLDER-OR-URL] [--keyring FILE] [--root FOLDER] [--allow-downgrade] PACKAGE...
#
#   --from             where the release is; the folder of this script
#   --keyring          the key to trust instead of the one in here, in gpgv's binary form
#   --root             installs below another root, by dpkg alone
#   --allow-downgrade  an older version than the installed one is taken
#
# Packages: berth-control-plane opsctl tenantctl nodeagent booter index-builder
set -eu

say() { printf '%s\n' "$*" >&2; }
fail() { say "install.sh: $*"; exit 1; }
usage() { sed -n '/^#   sh install/,/^# Packages/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

release_keyring() {
  base64 -d <<'KEY'
@KEYRING@
KEY
}

# All from here is one function, so that a script that was cut on its way does nothing.
main() {
  from=$(dirname -- "$0") keyring='' root='' downgrade=no
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --keyring | --root)
        [ $# -ge 2 ] || usage
        case $1 in
          --from) from=$2 ;;
          --keyring) keyring=$2 ;;
          --root) root=$2 ;;
        esac
        shift 2
        ;;
      --allow-downgrade) downgrade=yes; shift ;;
      --) shift; break ;;
      -*) usage ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || usage
  for name in "$@"; do
    case $name in
      '' | *[!a-z-]*) fail "no package is called $name" ;;
    esac
  done
  for tool in gpgv sha256sum dpkg dpkg-query base64; do
    command -v "$tool" > /dev/null || fail "$tool is needed: apt-get install the package that has it"
  done

  # What is verified here is what is installed: nobody else can write to this folder.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  chmod 755 "$work"
  if [ -n "$keyring" ]; then cat -- "$keyring" > "$work/keyring.gpg"; else release_keyring > "$work/keyring.gpg"; fi
  fetch SHA256SUMS
  fetch SHA256SUMS.asc
  gpgv --quiet --keyring "$work/keyring.gpg" "$work/SHA256SUMS.asc" "$work/SHA256SUMS" 2> "$work/gpgv.log" ||
    { cat "$work/gpgv.log" >&2; fail "the signature of the release is wrong: nothing was installed"; }

  architecture=$(dpkg --print-architecture)
  for name in "$@"; do take "$name" "$architecture"; done
  install_files "$@"
}

fetch() {
  case $from in
    https://* | http://*)
      if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" || fail "$from/$1 cannot be had"
      else
        wget --quiet --output-document="$work/$1" "$from/$1" || fail "$from/$1 cannot be had"
      fi
      ;;
    *) cat -- "$from/$1" > "$work/$1" || fail "$from/$1 cannot be read" ;;
  esac
}

# Fetches a package by the name that the signed list has, compares its digest, then its version with what is installed.
take() {
  line=$(grep -E "^[0-9a-f]{64}  $1_[0-9A-Za-z.+~-]+_$2\.deb\$" "$work/SHA256SUMS") ||
    fail "the release has no package $1 for $2"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release has several packages $1 for $2"
  file=${line#*  }
  fetch "$file"
  (cd "$work" && printf '%s\n' "$line" | sha256sum --check --strict --status) ||
    fail "$file is not what was signed: nothing was installed"
  mv "$work/$file" "$work/$1.deb"
  offered=${file#"$1_"}
  offered=${offered%"_$2.deb"}
  installed=$(dpkg-query ${root:+--admindir="$root/var/lib/dpkg"} --show --showformat='${Version}' "$1" 2> /dev/null) ||
    installed=''
  if [ -n "$installed" ] && dpkg --compare-versions "$offered" lt "$installed" && [ "$downgrade" = no ]; then
    fail "$1 $installed is installed and $offered is older: nothing was installed (--allow-downgrade takes it)"
  fi
}

install_files() {
  for name in "$@"; do set -- "$@" "$work/$name.deb"; shift; done
  # What is older was refused before.
  if [ -n "$root" ]; then
    dpkg --root="$root" --force-downgrade --install "$@"
  elif command -v apt-get > /dev/null; then
    apt-get install --yes --allow-downgrades "$@"
  else
    dpkg --force-downgrade --install "$@"
  fi
}

main "$@"
