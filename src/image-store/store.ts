// Where the bytes of uploaded images are: a folder or a bucket. An image is stored in parts of IMAGE_PART_BYTES; the last
// one may be shorter. The database decides which parts count.

/** A bucket is addressed by path: `url` ends with its name, and may have a prefix of the keys. */
export type BucketConfig = {
  readonly url: string;
  readonly region: string;
  readonly key_id: string;
  readonly secret: string;
};

export type ImageStoreConfig =
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "bucket" } & BucketConfig;

/** `changed_at_ms` is the time since 1970 at which a part was last written. */
export type StoredImage = { readonly id: string; readonly changed_at_ms: number };

export type ImageStore = {
  /** Stores a part, instead of an earlier one with this number. It is durable when this resolves. */
  write(id: string, part: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Returns a part, or null if it is missing. */
  read(id: string, part: number): Promise<Uint8Array<ArrayBuffer> | null>;
  remove(id: string): Promise<void>;
  /** Lists what is stored, complete or not. */
  list(): Promise<StoredImage[]>;
};
