// Recognizes the errors of writes to a full disk. The agent then continues without a record that it needs only after a
// crash. So it can still remove instances and their disks, which makes room.

/** Returns whether a write failed because the file system is full or a quota is used up. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** For `catch`: ignores a full disk, and throws every other error. */
export function ignoreFullDisk(error: unknown): void {
  if (!isDiskFull(error)) throw error;
}
