// Tests how a node reads a screenshot from QEMU's folder, and how it sends the screenshot.
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendWhole } from "../../nodeagent/console/send-whole.ts";
import { simulatedScreen } from "../../nodeagent/console/simulated-screen.ts";
import { readPicture, takeScreenshot } from "../../nodeagent/qemu/screenshot.ts";
import { CONSOLE_FRAME_BYTES_MAX, CONSOLE_WINDOW_BYTES, SCREENSHOT_BYTES_MAX } from "../../src/contract/limits.ts";
import { controlText } from "../../src/lib/console/frames.ts";

const PICTURE = simulatedScreen();
let folder: string;
let uid: number;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "screen-"));
  ({ uid } = await stat(folder));
});
afterAll(() => rm(folder, { recursive: true }));

async function written(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

test("a PNG file of the VM's user is read", async () => {
  expect(await readPicture(await written("good.png", PICTURE), uid)).toEqual(PICTURE);
});

test("a file of another user, a file that is not a PNG, and a file that is too large are refused", async () => {
  await expect(readPicture(await written("other.png", PICTURE), uid + 1)).rejects.toThrow("gave no picture");
  await expect(readPicture(await written("text.png", "root:x:0:0"), uid)).rejects.toThrow("gave no picture");
  const large = new Uint8Array(SCREENSHOT_BYTES_MAX + 1);
  large.set(PICTURE);
  await expect(readPicture(await written("large.png", large), uid)).rejects.toThrow("gave no picture");
});

test("a link and a folder in the place of the picture are refused", async () => {
  const link = join(folder, "link.png");
  await symlink(await written("target.png", PICTURE), link);
  await expect(readPicture(link, uid)).rejects.toThrow(/ELOOP/);
  await mkdir(join(folder, "folder.png"));
  await expect(readPicture(join(folder, "folder.png"), uid)).rejects.toThrow("gave no picture");
});

test("when QEMU fails, the tenant gets a fixed message, and the file is removed in any case", async () => {
  const files: string[] = [];
  const execute = (answer: (path: string) => Promise<unknown>) => (_command: unknown, given: unknown) => {
    const { filename } = given as { filename: string };
    files.push(filename);
    return answer(filename) as never;
  };
  const options = { output_folder: folder, uid };
  const good = execute((path) => writeFile(path, PICTURE));
  expect(await takeScreenshot({ execute: good }, options)).toEqual(PICTURE);
  const broken = execute(() => Promise.reject(new Error("screendump: no display")));
  await expect(takeScreenshot({ execute: broken }, options)).rejects.toMatchObject({
    message: "the screen could not be read",
    detail: "screendump: no display",
  });
  for (const path of files) await expect(stat(path)).rejects.toThrow(/ENOENT/);
  expect(process.getuid?.()).toBe(uid);
});

test("bytes are sent in frames within the window, and one message after the last frame states the end", () => {
  const frames: (Uint8Array | string)[] = [];
  let confirm = (_bytes: number) => {};
  let closed = false;
  const all = new Uint8Array(2 * CONSOLE_WINDOW_BYTES + 7).map((_, index) => index % 251);
  sendWhole({
    send: (frame) => void frames.push(frame),
    close: () => void (closed = true),
    listen: ({ onText }) => void (confirm = (bytes) => onText(controlText({ type: "ack", bytes }))),
  }, all);
  const sent = () => frames.filter((frame) => typeof frame !== "string");
  const size = () => sent().reduce((sum, { length }) => sum + length, 0);
  expect(size()).toBe(CONSOLE_WINDOW_BYTES);
  confirm(CONSOLE_WINDOW_BYTES);
  confirm(1);
  expect(size()).toBe(2 * CONSOLE_WINDOW_BYTES + 1);
  confirm(CONSOLE_WINDOW_BYTES);
  expect(Math.max(...sent().map(({ length }) => length))).toBeLessThanOrEqual(CONSOLE_FRAME_BYTES_MAX);
  expect(Uint8Array.from(sent().flatMap((frame) => [...frame]))).toEqual(all);
  expect(frames.filter((frame) => typeof frame === "string")).toEqual([controlText({ type: "done" })]);
  expect(closed).toBe(false);
});
