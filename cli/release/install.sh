#!/bin/sh
# Installs Berth's packages. The script verifies the signature and the checksums of a release before it unpacks or runs
# anything. This file contains the release's public key.
#
#   sh install.sh [--from FOLDER-OR-URL] [--keyring FILE] [--root FOLDER] [--allow-downgrade] PACKAGE...
#
#   --from             folder or URL of the release (default: the folder of this script)
#   --keyring          trust this key instead of the key in this script; binary form, for gpgv
#   --root             install below another root, with dpkg only
#   --allow-downgrade  allow a version that is older than the installed one
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

# The rest is one function, so that a truncated script does nothing.
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
      '' | *[!a-z-]*) fail "unknown package $name" ;;
    esac
  done
  for tool in gpgv sha256sum dpkg dpkg-query base64; do
    command -v "$tool" > /dev/null || fail "$tool is needed: install the package that contains it"
  done

  # Only this user can write to this folder, so verified files cannot change before they are installed.
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
  chmod 755 "$work"
  if [ -n "$keyring" ]; then cat -- "$keyring" > "$work/keyring.gpg"; else release_keyring > "$work/keyring.gpg"; fi
  fetch SHA256SUMS
  fetch SHA256SUMS.asc
  gpgv --quiet --keyring "$work/keyring.gpg" "$work/SHA256SUMS.asc" "$work/SHA256SUMS" 2> "$work/gpgv.log" ||
    { cat "$work/gpgv.log" >&2; fail "the signature of the release is not valid. Nothing was installed"; }

  architecture=$(dpkg --print-architecture)
  for name in "$@"; do take "$name" "$architecture"; done
  install_files "$@"
}

fetch() {
  case $from in
    https://* | http://*)
      if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" || fail "cannot fetch $from/$1"
      else
        wget --quiet --output-document="$work/$1" "$from/$1" || fail "cannot fetch $from/$1"
      fi
      ;;
    *) cat -- "$from/$1" > "$work/$1" || fail "cannot read $from/$1" ;;
  esac
}

# Fetches a package by its name in the signed list. Compares its digest with the list, and its version with the
# installed one.
take() {
  line=$(grep -E "^[0-9a-f]{64}  $1_[0-9A-Za-z.+~-]+_$2\.deb\$" "$work/SHA256SUMS") ||
    fail "the release has no package $1 for $2"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release has several packages $1 for $2"
  file=${line#*  }
  fetch "$file"
  (cd "$work" && printf '%s\n' "$line" | sha256sum --check --strict --status) ||
    fail "$file does not have the signed digest. Nothing was installed"
  mv "$work/$file" "$work/$1.deb"
  offered=${file#"$1_"}
  offered=${offered%"_$2.deb"}
  installed=$(dpkg-query ${root:+--admindir="$root/var/lib/dpkg"} --show \
    --showformat='${db:Status-Status} ${Version}' "$1" 2> /dev/null) || installed=''
  case $installed in
    # For a removed package, dpkg reports the version of the settings that it left.
    'config-files '* | 'not-installed '*) installed='' ;;
    *) installed=${installed#* } ;;
  esac
  if [ -n "$installed" ] && dpkg --compare-versions "$offered" lt "$installed" && [ "$downgrade" = no ]; then
    fail "$1 $installed is installed and $offered is older. Nothing was installed; pass --allow-downgrade to allow it"
  fi
}

install_files() {
  for name in "$@"; do set -- "$@" "$work/$name.deb"; shift; done
  # `take` has refused older versions.
  if [ -n "$root" ]; then
    dpkg --root="$root" --force-downgrade --install "$@"
  elif command -v apt-get > /dev/null; then
    apt-get install --yes --allow-downgrades "$@"
  else
    dpkg --force-downgrade --install "$@"
  fi
}

main "$@"
