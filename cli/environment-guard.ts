// Adds the environment guard to compiled programs. Before our code runs, Bun obeys BUN_OPTIONS (--preload runs any
// file), BUN_BE_BUN (the program becomes a plain bun), BUN_INSPECT, BUN_JSC_... and NODE_TLS_REJECT_UNAUTHORIZED. No
// option makes Bun ignore these variables. So the executable starts with instructions that remove the variables from
// the environment and then jump to Bun's entry.
//
// The instructions remove every variable whose name begins with BUN_, JSC_ or NODE_, except NODE_EXTRA_CA_CERTS. That
// variable names a file with the site's certification authorities and runs no code.
import { Buffer } from "node:buffer";
import { chmod, readFile, rename, stat, writeFile } from "node:fs/promises";

/** ELF, System V ABI: byte offsets of fields in the file header and in segment headers. */
const FILE = { machine: 18, entry: 24, segments: 32, segment_bytes: 54, segment_count: 56 } as const;
const SEGMENT = { type: 0, flags: 4, offset: 8, address: 16, load_address: 24, size: 32, memory_size: 40 } as const;
const MAGIC = Buffer.from("\x7fELF\x02\x01", "latin1");
const LOADED = 1;
const EXECUTABLE = 1;
/**
 * The smallest page size of both architectures. Only bytes in the same page are certain to be mapped with a segment.
 */
const PAGE_BYTES = 4_096;
const ALIGNMENT_BYTES = 16;

type Machine = {
  readonly code: Buffer;
  /** Returns the jump instruction that follows the code. The distance is relative to the jump's own address. */
  jump(distance_bytes: number): Buffer;
};

/** The guard's instructions by e_machine. */
const MACHINES: Readonly<Record<number, Machine>> = {
  // EM_X86_64. At program start the stack has argc, argv, a zero and the environment. The code must not change rdx.
  0x3e: {
    code: hex(`
      48 8b 04 24                     mov    rax, [rsp]
      48 8d 74 c4 10                  lea    rsi, [rsp+rax*8+16]
      48 89 f7                        mov    rdi, rsi
      48 8b 0e                  next: mov    rcx, [rsi]
      48 83 c6 08                     add    rsi, 8
      48 85 c9                        test   rcx, rcx
      74 4e                           je     done
      8b 01                           mov    eax, [rcx]
      3d 42 55 4e 5f                  cmp    eax, 0x5f4e5542
      74 eb                           je     next
      3d 4a 53 43 5f                  cmp    eax, 0x5f43534a
      74 e4                           je     next
      3d 4e 4f 44 45                  cmp    eax, 0x45444f4e
      75 2e                           jne    keep
      80 79 04 5f                     cmp    byte ptr [rcx+4], 0x5f
      75 28                           jne    keep
      48 b8 4e 4f 44 45 5f 45 58 54   movabs rax, 0x5458455f45444f4e
      48 3b 01                        cmp    rax, [rcx]
      75 c8                           jne    next
      48 b8 52 41 5f 43 41 5f 43 45   movabs rax, 0x45435f41435f4152
      48 3b 41 08                     cmp    rax, [rcx+8]
      75 b8                           jne    next
      81 79 10 52 54 53 3d            cmp    dword ptr [rcx+16], 0x3d535452
      75 af                           jne    next
      48 89 0f                  keep: mov    [rdi], rcx
      48 83 c7 08                     add    rdi, 8
      eb a6                           jmp    next
      48 89 0f                  done: mov    [rdi], rcx`),
    jump(distance_bytes) {
      const made = Buffer.alloc(5);
      made[0] = 0xe9;
      made.writeInt32LE(distance_bytes - made.length, 1);
      return made;
    },
  },
  // EM_AARCH64. The stack is as on x86-64. The code must not change x0.
  0xb7: {
    code: hex(`
      e9 03 40 f9         ldr  x9, [sp]
      ea 6f 29 8b         add  x10, sp, x9, lsl #3
      4a 41 00 91         add  x10, x10, #16
      eb 03 0a aa         mov  x11, x10
      4c 85 40 f8   next: ldr  x12, [x10], #8
      ac 04 00 b4         cbz  x12, done
      8d 01 40 b9         ldr  w13, [x12]
      ee 03 00 18         ldr  w14, bun
      bf 01 0e 6b         cmp  w13, w14
      60 ff ff 54         b.eq next
      ae 03 00 18         ldr  w14, jsc
      bf 01 0e 6b         cmp  w13, w14
      00 ff ff 54         b.eq next
      6e 03 00 18         ldr  w14, node
      bf 01 0e 6b         cmp  w13, w14
      01 02 00 54         b.ne keep
      8d 11 40 39         ldrb w13, [x12, #4]
      bf 7d 01 71         cmp  w13, #0x5f
      a1 01 00 54         b.ne keep
      8d 01 40 f9         ldr  x13, [x12]
      ce 01 00 58         ldr  x14, node_ext
      bf 01 0e eb         cmp  x13, x14
      c1 fd ff 54         b.ne next
      8d 05 40 f9         ldr  x13, [x12, #8]
      8e 01 00 58         ldr  x14, ra_ca_ce
      bf 01 0e eb         cmp  x13, x14
      41 fd ff 54         b.ne next
      8d 11 40 b9         ldr  w13, [x12, #16]
      ae 01 00 18         ldr  w14, rts
      bf 01 0e 6b         cmp  w13, w14
      c1 fc ff 54         b.ne next
      6c 85 00 f8   keep: str  x12, [x11], #8
      e4 ff ff 17         b    next
      1f 20 03 d5         nop
      4e 4f 44 45 5f 45 58 54 node_ext: .ascii "NODE_EXT"
      52 41 5f 43 41 5f 43 45 ra_ca_ce: .ascii "RA_CA_CE"
      42 55 4e 5f         bun:  .ascii "BUN_"
      4a 53 43 5f         jsc:  .ascii "JSC_"
      4e 4f 44 45         node: .ascii "NODE"
      52 54 53 3d         rts:  .ascii "RTS="
      7f 01 00 f9   done: str  xzr, [x11]`),
    jump(distance_bytes) {
      const made = Buffer.alloc(4);
      made.writeUInt32LE((0x14000000 | ((distance_bytes / 4) & 0x3ffffff)) >>> 0);
      return made;
    },
  },
};

/**
 * Adds the guard to a Linux executable. Equal input gives equal bytes. Leaves executables of other systems unchanged.
 * @throws Error if the executable has no free space before its code, or no guard exists for its architecture
 */
export async function guardEnvironment(path: string): Promise<void> {
  const made = guarded(await readFile(path));
  if (made === null) return;
  // Replaces the file atomically, so that a concurrent start uses the whole old file or the whole new one.
  const draft = `${path}.guarded`;
  await writeFile(draft, made);
  await chmod(draft, (await stat(path)).mode);
  await rename(draft, path);
}

/** Returns the executable with the guard; null if it is not a 64-bit ELF file. */
export function guarded(executable: Uint8Array): Buffer | null {
  if (!MAGIC.equals(executable.subarray(0, MAGIC.length))) return null;
  const made = Buffer.from(executable);
  const machine = MACHINES[made.readUInt16LE(FILE.machine)];
  if (machine === undefined) throw new Error("no environment guard exists for this architecture");
  const segments = segmentsOf(made).filter((at) => made.readUInt32LE(at + SEGMENT.type) === LOADED);
  const text = segments.find((at) => (made.readUInt32LE(at + SEGMENT.flags) & EXECUTABLE) !== 0);
  if (text === undefined) throw new Error("the executable has no executable segment");
  const offset = read(made, text + SEGMENT.offset);
  const ends = segments.filter((at) => at !== text).map((at) =>
    read(made, at + SEGMENT.offset) + read(made, at + SEGMENT.size)
  );
  const start = Math.max(offset - offset % PAGE_BYTES, ...ends.filter((end) => end <= offset));
  const jump_bytes = machine.jump(0).length;
  const guard_at = alignedDown(offset - machine.code.length - jump_bytes);
  if (guard_at < start || made.subarray(guard_at, offset).some((byte) => byte !== 0)) {
    throw new Error("the executable has no room for the environment guard before its code");
  }
  // The code segment now starts this many bytes earlier, in the file and in memory.
  const grown = offset - guard_at;
  const entry = read(made, FILE.entry);
  const guard_address = read(made, text + SEGMENT.address) - grown;
  machine.code.copy(made, guard_at);
  machine.jump(entry - (guard_address + machine.code.length)).copy(made, guard_at + machine.code.length);
  for (const field of [SEGMENT.offset, SEGMENT.address, SEGMENT.load_address]) add(made, text + field, -grown);
  for (const field of [SEGMENT.size, SEGMENT.memory_size]) add(made, text + field, grown);
  made.writeBigUInt64LE(BigInt(guard_address), FILE.entry);
  return made;
}

function segmentsOf(file: Buffer): number[] {
  const [first, size] = [read(file, FILE.segments), file.readUInt16LE(FILE.segment_bytes)];
  return Array.from({ length: file.readUInt16LE(FILE.segment_count) }, (_, index) => first + index * size);
}

function read(file: Buffer, at: number): number {
  return Number(file.readBigUInt64LE(at));
}

function add(file: Buffer, at: number, bytes: number): void {
  file.writeBigUInt64LE(BigInt(read(file, at) + bytes), at);
}

function alignedDown(at: number): number {
  return at - at % ALIGNMENT_BYTES;
}

/** Parses a listing: each line has hexadecimal bytes, then a comment. */
function hex(listing: string): Buffer {
  return Buffer.concat(
    listing.trim().split("\n").map((line) =>
      Buffer.from(/^\s*((?:[0-9a-f]{2} )+)/.exec(line)![1]!.replaceAll(" ", ""), "hex")
    ),
  );
}
