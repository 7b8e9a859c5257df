#!/bin/sh
# Installs Berth's programs from a channel: channel.json, its signature, and the tarballs that it lists. This file contains
# the release's public key. The script verifies the signature and the digests before it unpacks or runs anything.
#
# The script needs a POSIX shell and these programs:
# - curl or wget, if the channel is a URL
# - gpgv, or OpenSSL 3 if an Ed25519 key signed the channel
# - sha256sum, digest, shasum or openssl
# - gzip, tar, awk, sed, od, dd and mktemp
# The global zone of SmartOS has all of these except gpgv and sha256sum.
set -eu

say() { printf '%s\n' "$*" >&2; }
fail() { say "install.sh: $*"; exit 1; }
usage() {
  cat >&2 <<'TEXT'
usage: sh install.sh [--from FOLDER-OR-URL] [--prefix FOLDER] [--allow-downgrade] PROGRAM...

  --from             folder or URL of the channel (default: CHANNEL_URL, or the folder of this script)
  --prefix           folder to install into (default: /usr/local)
  --allow-downgrade  allow a release that is older than the installed one

Programs: opsctl tenantctl nodeagent booter index-builder

Variables:
  CHANNEL_URL         URL of channel.json
  NODEAGENT_PREFIX    for nodeagent: folder to install into, if --prefix is not given
  NODEAGENT_ENDPOINT  for nodeagent: also install its service for this control plane, with the values of
                      NODEAGENT_STATE_DIR, NODEAGENT_SERVER_UUID and NODEAGENT_HOSTNAME
TEXT
  exit 2
}

release_keyring() {
  cat <<'KEY'
@KEYRING@
KEY
}

# The release's public key in the form for OpenSSL; empty if only gpgv supports the algorithm of the key.
release_public_key() {
  cat <<'KEY'
@PUBLIC_KEY@
KEY
}

# The rest is one function, so that a truncated script does nothing.
main() {
  from='' document=channel.json prefix='' downgrade=no
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --prefix)
        [ $# -ge 2 ] || usage
        case $1 in
          --from) from=${2%/} ;;
          --prefix) prefix=${2%/} ;;
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
      opsctl | tenantctl | nodeagent | booter | index-builder) ;;
      *) fail "unknown program $name; the programs are opsctl, tenantctl, nodeagent, booter, index-builder" ;;
    esac
  done
  if [ -z "$from" ] && [ -n "${CHANNEL_URL:-}" ]; then
    case $CHANNEL_URL in
      http://*/?* | https://*/?*) ;;
      *) fail "CHANNEL_URL is not the URL of a channel.json: $CHANNEL_URL" ;;
    esac
    from=${CHANNEL_URL%/*} document=${CHANNEL_URL##*/}
  fi
  [ -n "$from" ] || from=$(dirname -- "$0")
  if [ -z "$prefix" ]; then
    prefix=/usr/local
    if [ "$*" = nodeagent ] && [ -n "${NODEAGENT_PREFIX:-}" ]; then prefix=${NODEAGENT_PREFIX%/}; fi
  fi
  case $prefix in
    /*) ;;
    *) fail "--prefix must be an absolute path, not $prefix" ;;
  esac
  case $prefix in
    *[!A-Za-z0-9/._+@~-]*) fail "--prefix may contain only letters, digits and / . _ + @ ~ -, not $prefix" ;;
  esac
  check_service
  for tool in gzip tar awk sed od dd mktemp; do
    command -v "$tool" > /dev/null || fail "$tool is needed"
  done
  target=$(target_of) || exit 1

  # Only this user can write to this folder, so verified files cannot change before they are installed.
  umask 077
  work=$(mktemp -d)
  stage=''
  trap 'rm -rf "$work" ${stage:+"$stage"}' EXIT
  trap 'exit 130' INT TERM
  # A booter that mirrors the channel has the same limits: one megabyte for channel.json, one gigabyte for a program.
  fetch "$document" 1048576
  fetch "$document.asc" 1048576
  mv "$work/$document" "$work/channel"
  mv "$work/$document.asc" "$work/channel.asc"
  verify_signature
  version=$(field version)
  released_at=$(field released_at)
  case $version in
    '' | *[!0-9A-Za-z.+~-]*) fail "$document has no valid version" ;;
  esac
  case $released_at in
    [0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z) ;;
    *) fail "$document has no valid release time" ;;
  esac

  for name in "$@"; do refuse_older "$name"; done
  for name in "$@"; do take "$name"; done
  # Every user may run the programs.
  umask 022
  mkdir -p "$prefix" || fail "cannot create $prefix"
  stage=$(mktemp -d "$prefix/.berth-install.XXXXXX") || fail "cannot write below $prefix"
  for name in "$@"; do unpack "$name"; done
  for name in "$@"; do place "$name"; done
  case " $* " in
    *' nodeagent '*) install_service ;;
  esac
}

# Checks values that become lines of a file or arguments of the agent.
check_service() {
  endpoint=${NODEAGENT_ENDPOINT:-} state_dir=${NODEAGENT_STATE_DIR:-}
  server_uuid=${NODEAGENT_SERVER_UUID:-} hostname=${NODEAGENT_HOSTNAME:-}
  [ -n "$endpoint" ] || return 0
  newline='
'
  case "$endpoint$state_dir$server_uuid$hostname" in
    *"$newline"*) fail "a NODEAGENT variable has more than one line" ;;
  esac
  case $endpoint in
    http://?* | https://?*) ;;
    *) fail "NODEAGENT_ENDPOINT must be an http or https URL" ;;
  esac
  case $state_dir in
    /*) ;;
    *) fail "NODEAGENT_STATE_DIR must be an absolute path" ;;
  esac
  case $server_uuid in
    '' | ????????-????-????-????-????????????) ;;
    *) fail "NODEAGENT_SERVER_UUID is not a UUID" ;;
  esac
}

# Prints the system and the architecture, as in the channel's file names.
target_of() {
  case $(uname -s) in
    Linux) system=linux ;;
    SunOS) system=sunos ;;
    *) fail "$(uname -s) is not supported" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64 | i86pc) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "the architecture $(uname -m) is not supported" ;;
  esac
  printf '%s-%s' "$system" "$machine"
}

# fetch NAME BYTES_MAX: with curl, limits bytes and time, so that a server cannot fill the disk or block a setup
# forever. With wget, limits only each wait for data.
fetch() {
  case $from in
    https://* | http://*)
      if command -v curl > /dev/null; then
        curl --fail --silent --show-error --location --proto =http,https --connect-timeout 30 --max-time 1800 \
          --max-filesize "$2" --output "$work/$1" "$from/$1" || fail "cannot fetch $from/$1"
      elif command -v wget > /dev/null; then
        wget --quiet --timeout=60 --tries=3 --output-document="$work/$1" "$from/$1" ||
          fail "cannot fetch $from/$1"
      else
        fail "curl or wget is needed"
      fi
      ;;
    *) cat -- "$from/$1" > "$work/$1" || fail "cannot read $from/$1" ;;
  esac
}

verify_signature() {
  if command -v gpgv > /dev/null; then
    command -v base64 > /dev/null || fail "base64 is needed"
    release_keyring | base64 -d > "$work/keyring.gpg"
    gpgv --quiet --keyring "$work/keyring.gpg" "$work/channel.asc" "$work/channel" 2> "$work/gpgv.log" ||
      { cat "$work/gpgv.log" >&2; fail "the signature of $from/$document is not valid. Nothing was installed"; }
  elif command -v openssl > /dev/null; then
    release_public_key > "$work/public.pem"
    grep 'BEGIN PUBLIC KEY' "$work/public.pem" > /dev/null || fail "gpgv is needed: OpenSSL cannot verify the key of this release"
    verify_with_openssl ||
      fail "the signature of $from/$document is not valid, or this OpenSSL cannot verify it. Nothing was installed"
  else
    fail "gpgv or OpenSSL 3 is needed"
  fi
}

# Verifies an OpenPGP signature of version 4 over a document (RFC 4880, 5.2.3 and 5.2.4) by an Ed25519 key. The key signs a
# digest over the document, the fields of the signature and their length. The script hashes the actual length, so that no
# part of the document can pass as fields.
verify_with_openssl() {
  sed -e '1,/^$/d' -e '/^=/,$d' -e '/^-----END/,$d' "$work/channel.asc" | openssl base64 -d > "$work/packet" || return 1
  bytes=$(wc -c < "$work/packet" | tr -d ' ')
  # One packet of at most one kilobyte: the tag, then a length of one or two bytes.
  [ "$bytes" -gt 8 ] && [ "$bytes" -le 1024 ] && [ "$(byte 0)" -eq 194 ] || return 1
  if [ "$(byte 1)" -lt 192 ]; then
    start=2 length=$(byte 1)
  elif [ "$(byte 1)" -lt 224 ]; then
    start=3 length=$((($(byte 1) - 192) * 256 + $(byte 2) + 192))
  else
    return 1
  fi
  [ $((start + length)) -eq "$bytes" ] || return 1
  # The signature must be of version 4, over a binary document, and made with EdDSA.
  [ "$(byte "$start")" -eq 4 ] && [ "$(byte $((start + 1)))" -eq 0 ] && [ "$(byte $((start + 2)))" -eq 22 ] || return 1
  case $(byte $((start + 3))) in
    8) hash=sha256 ;;
    9) hash=sha384 ;;
    10) hash=sha512 ;;
    *) return 1 ;;
  esac
  signed=$((6 + $(two $((start + 4)))))
  at=$((start + signed))
  [ "$at" -lt "$bytes" ] || return 1
  # Skips the unsigned fields and the first two bytes of the digest.
  at=$((at + 2 + $(two "$at") + 2))
  [ "$at" -lt "$bytes" ] || return 1
  : > "$work/signature"
  number && number && [ "$at" -eq "$bytes" ] || return 1
  {
    cat "$work/channel"
    part "$start" "$signed"
    printf '\004\377\000\000'
    octet $((signed / 256))
    octet $((signed % 256))
  } > "$work/signed"
  openssl dgst "-$hash" -binary "$work/signed" > "$work/digest" || return 1
  openssl pkeyutl -verify -pubin -inkey "$work/public.pem" -rawin -in "$work/digest" -sigfile "$work/signature" \
    > /dev/null 2>&1
}

part() { dd if="$work/packet" bs=1 skip="$1" count="$2" 2> /dev/null; }
byte() { part "$1" 1 | od -An -v -tu1 | tr -d ' \n'; }
two() { printf '%d' $(($(byte "$1") * 256 + $(byte $(($1 + 1))))); }
octet() { printf "\\$(printf '%03o' "$1")"; }

# Appends the number at $at as 32 bytes, and advances $at. The packet stores the number without leading zeros.
number() {
  [ $((at + 2)) -le "$bytes" ] || return 1
  size=$((($(two "$at") + 7) / 8))
  [ "$size" -le 32 ] && [ $((at + 2 + size)) -le "$bytes" ] || return 1
  zeros=$((32 - size))
  while [ "$zeros" -gt 0 ]; do
    octet 0 >> "$work/signature"
    zeros=$((zeros - 1))
  done
  part $((at + 2)) "$size" >> "$work/signature"
  at=$((at + 2 + size))
}

digest_of() {
  if command -v sha256sum > /dev/null; then
    sha256sum < "$1" | cut -c1-64
  elif command -v digest > /dev/null; then
    digest -a sha256 "$1"
  elif command -v shasum > /dev/null; then
    shasum -a 256 < "$1" | cut -c1-64
  elif command -v openssl > /dev/null; then
    openssl dgst -sha256 -r < "$1" | cut -c1-64
  else
    fail "sha256sum, digest, shasum or openssl is needed"
  fi
}

# Prints a field. The release writes one field or one file on each line.
field() { sed -n "s/^  \"$1\": \"\\([^\"]*\\)\",\$/\\1/p" "$work/channel"; }

record_of() { printf '%s/lib/berth/installed/%s' "$prefix" "$1"; }

refuse_older() {
  [ "$downgrade" = no ] && [ -f "$(record_of "$1")" ] || return 0
  read -r had_version had_at < "$(record_of "$1")" || had_version=''
  [ -n "$had_version" ] && [ -n "$had_at" ] || return 0
  if printf '%s %s\n' "$version" "$had_version" | awk '
    {
      count = split($1, new, /[.+~-]/); if (split($2, old, /[.+~-]/) > count) count = split($2, old, /[.+~-]/)
      for (i = 1; i <= count; i++) if (new[i] + 0 != old[i] + 0) exit (new[i] + 0 < old[i] + 0) ? 0 : 1
      exit 1
    }' || printf '%s %s\n' "$released_at" "$had_at" | awk '{ exit ($1 "" < $2 "") ? 0 : 1 }'; then
    fail "$1 $had_version of $had_at is installed, and $version of $released_at is older." \
      "Nothing was installed; pass --allow-downgrade to allow it"
  fi
}

# Fetches a program's tarball by its name in the signed list, and compares its digest.
take() {
  file=$1-$version-$target.tar.gz
  digest=$(awk -F '"' -v name="$file" '$2 == "name" && $4 == name && $6 == "sha256" { print $8 }' "$work/channel")
  case $digest in
    ????????????????????????????????????????????????????????????????) ;;
    *) fail "the channel $version has no $1 for $target; it has:" \
      "$(awk -F '"' '$2 == "name" && $4 ~ /\.tar\.gz$/ { print $4 }' "$work/channel" | tr '\n' ' ')" ;;
  esac
  fetch "$file" 1073741824
  [ "$(digest_of "$work/$file")" = "$digest" ] || fail "$file does not have the signed digest. Nothing was installed"
}

unpack() {
  mkdir "$stage/$1"
  gzip -dc "$work/$1-$version-$target.tar.gz" | (cd "$stage/$1" && tar xf -) || fail "cannot unpack $1"
  "$stage/$1/bin/$1" --help > /dev/null 2>&1 ||
    fail "$1 does not run on this machine: it needs glibc 2.27 or later on Linux. Nothing was installed"
}

# Replaces each file with one rename; a running program keeps using its old file.
place() {
  (cd "$stage/$1" && find . -type f) > "$work/files"
  while read -r path; do
    path=${path#./}
    case $path in
      lib/systemd/system/* | lib/nodeagent/*)
        sed "s|@PREFIX@|$prefix|g" "$stage/$1/$path" > "$stage/rewritten" && cat "$stage/rewritten" > "$stage/$1/$path"
        ;;
    esac
    mkdir -p "$prefix/$(dirname "$path")" && mv -f "$stage/$1/$path" "$prefix/$path" ||
      fail "cannot write $prefix/$path"
  done < "$work/files"
  record=$(record_of "$1")
  mkdir -p "$(dirname "$record")" && printf '%s %s\n' "$version" "$released_at" > "$record.part" &&
    mv -f "$record.part" "$record" || fail "cannot write $record"
  say "$1 $version is in $prefix/bin"
}

# Writes the settings that lib/nodeagent/start reads. SmartOS imports the manifests in /opt/custom/smf at every boot.
install_service() {
  [ -n "$endpoint" ] || return 0
  mkdir -p "$prefix/etc"
  printf 'endpoint\t%s\nstate_dir\t%s\nserver_uuid\t%s\nhostname\t%s\n' \
    "$endpoint" "$state_dir" "$server_uuid" "$hostname" > "$prefix/etc/nodeagent.conf.part" &&
    mv -f "$prefix/etc/nodeagent.conf.part" "$prefix/etc/nodeagent.conf" ||
    fail "cannot write $prefix/etc/nodeagent.conf"
  [ "${target%-*}" = sunos ] || return 0
  manifests=$(dirname "$prefix")/custom/smf
  mkdir -p "$manifests" && cp "$prefix/lib/nodeagent/nodeagent.xml" "$manifests/nodeagent.xml.part" &&
    mv -f "$manifests/nodeagent.xml.part" "$manifests/nodeagent.xml" || fail "cannot write the service's manifest"
}

main "$@"
