// Explains why a file cannot be read or written. The system's own texts contain codes such as ENOENT.
import { type FileHandle, open } from "node:fs/promises";
import { EXIT } from "./exit-code.ts";
import { Failure } from "./failure.ts";

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a directory",
  EISDIR: "it is a directory; name a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "the symbolic links of the path form a loop",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "no space is left on the disk",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than the limit of this shell (ulimit -f)",
  EROFS: "the file system is read-only",
  EIO: "the disk reported an error",
  EMFILE: "this process has too many open files (ulimit -n)",
  ENFILE: "the system has too many open files",
};

/** Returns why an operation on a file failed. For an unknown error, returns the text of the system. */
export function fileReason(error: unknown): string {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  return WORDS[code] ?? message;
}

/** Returns the message for a failed file operation with a code in WORDS, or null for any other error. */
export function fileProblem(error: unknown): string | null {
  const { code = "", path, syscall } = error as { code?: string; path?: string; syscall?: string };
  if (syscall === undefined || !Object.hasOwn(WORDS, code)) return null;
  const what = path !== undefined ? `use ${path}` : syscall === "write" ? "write the output" : `${syscall} a file`;
  return `cannot ${what}: ${fileReason(error)}`;
}

/** Returns the failure of a file that cannot be read. `named` is the option or argument that names the file. */
export function unreadable(path: string, named: string, error: unknown): Failure {
  return new Failure(`${named}: cannot read ${path}: ${fileReason(error)}`, EXIT.failure);
}

/** Opens a file to read it. Throws a Failure if the file cannot be opened, or if `path` is a directory. */
export async function openToRead(path: string, named: string): Promise<FileHandle> {
  const file = await open(path, "r").catch((error) => {
    throw unreadable(path, named, error);
  });
  if (!(await file.stat()).isDirectory()) return file;
  await file.close();
  throw unreadable(path, named, { code: "EISDIR" });
}
