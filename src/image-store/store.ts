// Defines the store of the bytes of uploaded images, which is a folder or a bucket. An image is stored in parts of
// IMAGE_PART_BYTES; the last part may be shorter. The database contains the number of valid bytes of each image. Stored
// bytes after this number are ignored.

/** `url` ends with the name of the bucket, or with its name and a prefix for the keys. */
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
  /**
   * Stores a part. The part is durable when the promise resolves. It never changes, except in a bucket that ignores
   * If-None-Match. Returns false if the part is already stored with other bytes, for example because a second program
   * uploads to the same record.
   */
  write(id: string, part: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Returns a part, or null if it is missing. */
  read(id: string, part: number): Promise<Uint8Array<ArrayBuffer> | null>;
  remove(id: string): Promise<void>;
  /** Lists the stored images, including incomplete ones. */
  list(): Promise<StoredImage[]>;
};
