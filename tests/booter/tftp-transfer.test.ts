// Tests the blocks that a TFTP transfer sends, without a socket.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agree, newTransfer } from "../../booter/tftp/transfer.ts";
import { programBytes } from "./site.ts";

const FILE = programBytes(3);

describe("a transfer", () => {
  test("ignores a repeated acknowledgement, so no block is sent twice", () => {
    const transfer = newTransfer(FILE, agree(new Map(), FILE.length));
    expect(transfer.start()).toHaveLength(1);
    expect(transfer.acknowledged(1)).toHaveLength(1);
    expect(transfer.acknowledged(1)).toHaveLength(0);
    expect(transfer.acknowledged(7)).toHaveLength(0);
    expect(transfer.acknowledged(2)).toHaveLength(1);
  });

  test("sends at most 16 blocks at once, sends every byte and ends, whatever the client acknowledges", () => {
    fc.assert(fc.property(
      fc.uint8Array({ maxLength: 3_000 }),
      fc.integer({ min: 8, max: 600 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.nat(70_000), { maxLength: 30 }),
      (file, block_bytes, window, noise) => {
        const options = new Map([["blksize", String(block_bytes)], ["windowsize", String(window)]]);
        const transfer = newTransfer(file, agree(options, file.length));
        const got = new Map<number, Uint8Array>();
        let next = 1;
        let packets = (transfer.start(), transfer.acknowledged(0));
        while (!transfer.isDone()) {
          expect(packets.length).toBeLessThanOrEqual(16);
          for (const each of packets) got.set(each[2]! * 256 + each[3]!, each.subarray(4));
          while (got.has(next)) next++;
          // Acknowledgements of blocks that were not sent must have no effect.
          for (const each of noise) {
            if (!got.has(each & 65_535)) expect(transfer.acknowledged(each & 65_535)).toEqual([]);
          }
          packets = transfer.acknowledged(next - 1);
        }
        const whole = Array.from({ length: next - 1 }, (_, at) => [...got.get(at + 1)!]).flat();
        expect(whole).toEqual([...file]);
      },
    ));
  });

  test("sends block 0 after block 65,535", () => {
    const file = new Uint8Array(8 * 65_540);
    const transfer = newTransfer(file, agree(new Map([["blksize", "8"]]), file.length));
    transfer.start();
    let packets = transfer.acknowledged(0);
    let blocks = 0;
    while (!transfer.isDone()) {
      blocks += 1;
      expect(packets[0]![2]! * 256 + packets[0]![3]!).toBe(blocks % 65_536);
      packets = transfer.acknowledged(blocks % 65_536);
    }
    expect(blocks).toBe(65_541);
  });
});
