// Creates a program that behaves like QEMU 7.1: its newest machine type is pc-q35-7.1. In all other respects it is the
// installed QEMU.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { present } from "../support/optional-programs.ts";

const EXECUTABLE = 0o755;

/** Creates the program in the folder, and returns its path. */
export async function olderQemu(folder: string): Promise<string> {
  const path = join(folder, "qemu-7.1");
  const script = `#!/bin/sh
qemu=${present("qemu-system-x86_64")}
if [ "$*" = "-machine help" ]; then
  "$qemu" -machine help | grep '^pc-q35-7[.][01] '
  exit
fi
for word; do
  shift
  case $word in
    q35,*) word="pc-q35-7.1,\${word#*,}" ;;
    pc-q35-7.1,*) ;;
    pc-q35-*) echo "$0: unsupported machine type" >&2; exit 1 ;;
  esac
  set -- "$@" "$word"
done
exec "$qemu" "$@"
`;
  await writeFile(path, script, { mode: EXECUTABLE });
  return path;
}
