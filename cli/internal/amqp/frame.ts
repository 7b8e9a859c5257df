// Reads and writes frames of AMQP 0-9-1. The payload alone may be as long as frame-max, because the AMQP library of the
// machines' agent sends body payloads of exactly frame-max bytes. In the standard, frame-max includes the 8 bytes
// around the payload.
import { Buffer } from "node:buffer";
import { AMQP_FRAME_BYTES_MAX } from "./limits.ts";
import { AmqpFault, FRAME_ERROR, u16, u32 } from "./wire.ts";

export const METHOD = 1;
export const HEADER = 2;
export const BODY = 3;
export const HEARTBEAT = 8;
const END = 0xce;
const AROUND = 8;

export type Frame = { readonly type: number; readonly channel: number; readonly payload: Buffer };

export const PROTOCOL_HEADER: Buffer = Buffer.from("AMQP\x00\x00\x09\x01", "latin1");

export type FrameCutter = {
  /** Adds received bytes and returns the frames that they complete. Throws an AmqpFault at the first invalid frame. */
  push(bytes: Buffer): Frame[];
};

/** Creates a cutter that splits the received bytes into frames and keeps at most one incomplete frame in memory. */
export function newFrameCutter(): FrameCutter {
  let held: Buffer[] = [];
  let length = 0;
  /**
   * The number of bytes to wait for: the header of a frame, or the whole frame once its header is known. So the parts
   * of a long frame are joined when the frame is complete, not whenever a part arrives.
   */
  let needed = 7;

  function whole(): Buffer {
    if (held.length > 1) held = [Buffer.concat(held, length)];
    return held[0] ?? Buffer.alloc(0);
  }

  return {
    push(bytes) {
      held.push(bytes);
      length += bytes.length;
      const frames: Frame[] = [];
      for (;;) {
        if (length < needed) return frames;
        const stream = whole();
        const size = stream.readUInt32BE(3);
        if (size > AMQP_FRAME_BYTES_MAX) throw new AmqpFault(FRAME_ERROR, "a frame is longer than frame-max");
        if (![METHOD, HEADER, BODY, HEARTBEAT].includes(stream[0]!)) {
          throw new AmqpFault(FRAME_ERROR, "the received bytes are not an AMQP frame");
        }
        needed = size + AROUND;
        if (length < needed) return frames;
        if (stream[size + 7] !== END) {
          throw new AmqpFault(FRAME_ERROR, "the byte after a frame's payload is not the end mark");
        }
        frames.push({ type: stream[0]!, channel: stream.readUInt16BE(1), payload: stream.subarray(7, 7 + size) });
        held = [stream.subarray(size + AROUND)];
        length -= size + AROUND;
        needed = 7;
      }
    },
  };
}

export function frame(type: number, channel: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), u16(channel), u32(payload.length), payload, Buffer.of(END)]);
}

export const HEARTBEAT_FRAME: Buffer = frame(HEARTBEAT, 0, Buffer.alloc(0));

/** Returns the header frame and the body frames of one message. No body frame is longer than `frame_bytes_max`. */
export function contentFrames(channel: number, properties: Buffer, body: Buffer, frame_bytes_max: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length));
  const parts = [frame(HEADER, channel, Buffer.concat([u16(60), u16(0), size, properties]))];
  const step = frame_bytes_max - AROUND;
  for (let at = 0; at < body.length; at += step) parts.push(frame(BODY, channel, body.subarray(at, at + step)));
  return Buffer.concat(parts);
}
