// Parses Simplestreams products:1.0, the format of Ubuntu's feed. The keys of `versions` are not ordered.
import { z } from "zod";

const Item = z.object({
  ftype: z.string(),
  path: z.string(),
  sha256: z.string().optional(),
  size: z.int().min(0).optional(),
});
const Version = z.object({ items: z.record(z.string(), Item) });
/**
 * A product without its versions. Most of the hundreds of products are no longer supported, and parsing all their
 * versions would need much memory.
 */
const ProductHead = z.object({
  arch: z.string(),
  release: z.string().optional(),
  release_title: z.string().optional(),
  support_eol: z.string().optional(),
  supported: z.boolean().optional(),
  version: z.string().optional(),
});
export const Versions = z.record(z.string(), Version);
const RawProduct = ProductHead.extend({ versions: z.unknown() });
export const Simplestreams = z.object({
  format: z.literal("products:1.0"),
  products: z.record(z.string(), RawProduct),
});
export type Simplestreams = z.infer<typeof Simplestreams>;
export type RawProduct = z.infer<typeof RawProduct>;
export type Versions = z.infer<typeof Versions>;
export type Item = z.infer<typeof Item>;
