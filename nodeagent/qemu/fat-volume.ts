// Writes a FAT12 volume with a few small files, for example the files that cloud-init reads. Equal files give equal
// bytes, and no program of the node is needed.
import { EXIT } from "../../cli/internal/exit-code.ts";
import { Failure } from "../../cli/internal/failure.ts";

const SECTOR_BYTES = 512;
/** A 1.44 MB floppy: 2 heads of 18 sectors, and one cluster for each sector. */
const SECTORS = 2_880;
const SECTORS_PER_TRACK = 18;
const HEADS = 2;
const MEDIA_DESCRIPTOR = 0xf0;
const FAT_SECTORS = 9;
const FAT_COPIES = 2;
const ENTRY_BYTES = 32;
const ROOT_ENTRIES = 224;
const FAT_AT = SECTOR_BYTES;
const ROOT_AT = FAT_AT + FAT_COPIES * FAT_SECTORS * SECTOR_BYTES;
const DATA_AT = ROOT_AT + ROOT_ENTRIES * ENTRY_BYTES;
const FIRST_CLUSTER = 2;
const CLUSTERS = (SECTORS * SECTOR_BYTES - DATA_AT) / SECTOR_BYTES;
const LAST_CLUSTER_MARK = 0xfff;
/** Attributes of directory entries. */
const VOLUME_LABEL = 0x08;
const ARCHIVE = 0x20;
const LONG_NAME = 0x0f;
const LAST_LONG_ENTRY = 0x40;
/** Offsets of the 13 characters of a long name in its entry. */
const LONG_NAME_OFFSETS = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
const NAME_CHARS = 11;

/** Returns the volume. Throws a Failure if the files do not fit. */
export function fatVolume(label: string, files: Readonly<Record<string, string>>): Uint8Array {
  const image = new Uint8Array(SECTORS * SECTOR_BYTES);
  writeBootSector(image, label);
  setCluster(image, 0, 0xf00 | MEDIA_DESCRIPTOR);
  setCluster(image, 1, LAST_CLUSTER_MARK);
  writeText(image, ROOT_AT, label.padEnd(NAME_CHARS));
  image[ROOT_AT + 11] = VOLUME_LABEL;
  let entry_at = ROOT_AT + ENTRY_BYTES;
  let cluster = FIRST_CLUSTER;
  for (const [index, [name, text]] of Object.entries(files).entries()) {
    const data = new TextEncoder().encode(text);
    const clusters = Math.max(1, Math.ceil(data.length / SECTOR_BYTES));
    if (cluster + clusters > FIRST_CLUSTER + CLUSTERS) {
      throw new Failure("the user data and keys do not fit into the seed volume of 1.44 MB", EXIT.failure);
    }
    const short = `FILE${index + 1}`.padEnd(NAME_CHARS);
    entry_at = writeLongName(image, { at: entry_at, name, short });
    writeShortEntry(image, { at: entry_at, short, cluster, bytes: data.length });
    entry_at += ENTRY_BYTES;
    for (let each = 0; each < clusters; each++) {
      setCluster(image, cluster + each, each === clusters - 1 ? LAST_CLUSTER_MARK : cluster + each + 1);
    }
    image.set(data, DATA_AT + (cluster - FIRST_CLUSTER) * SECTOR_BYTES);
    cluster += clusters;
  }
  return image;
}

function writeBootSector(image: Uint8Array, label: string): void {
  const view = new DataView(image.buffer);
  image.set([0xeb, 0x3c, 0x90]); // A jump, which readers take as the mark of a FAT volume.
  writeText(image, 3, "BERTH1.0");
  view.setUint16(11, SECTOR_BYTES, true);
  image[13] = 1; // sectors per cluster
  view.setUint16(14, 1, true); // the boot sector itself
  image[16] = FAT_COPIES;
  view.setUint16(17, ROOT_ENTRIES, true);
  view.setUint16(19, SECTORS, true);
  image[21] = MEDIA_DESCRIPTOR;
  view.setUint16(22, FAT_SECTORS, true);
  view.setUint16(24, SECTORS_PER_TRACK, true);
  view.setUint16(26, HEADS, true);
  image[38] = 0x29; // serial number, label and type follow
  view.setUint32(39, 0xb3e72700, true);
  writeText(image, 43, label.padEnd(NAME_CHARS));
  writeText(image, 54, "FAT12   ");
  image.set([0x55, 0xaa], 510);
}

/** Sets an entry of the allocation table, in both copies. Two entries of 12 bits share three bytes. */
function setCluster(image: Uint8Array, cluster: number, value: number): void {
  for (let copy = 0; copy < FAT_COPIES; copy++) {
    const at = FAT_AT + copy * FAT_SECTORS * SECTOR_BYTES + Math.floor(cluster * 3 / 2);
    const [low, high] = [image[at]!, image[at + 1]!];
    if (cluster % 2 === 0) image.set([value & 0xff, (high & 0xf0) | value >> 8], at);
    else image.set([(low & 0x0f) | (value & 0x0f) << 4, value >> 4], at);
  }
}

type LongName = { readonly at: number; readonly name: string; readonly short: string };

/** Writes the entries of a long name, last part first, and returns the offset of the entry that follows. */
function writeLongName(image: Uint8Array, { at, name, short }: LongName): number {
  const view = new DataView(image.buffer);
  const parts = Math.ceil(name.length / LONG_NAME_OFFSETS.length);
  for (let part = parts; part >= 1; part--, at += ENTRY_BYTES) {
    image[at] = part | (part === parts ? LAST_LONG_ENTRY : 0);
    image[at + 11] = LONG_NAME;
    image[at + 13] = checksum(short);
    for (const [index, offset] of LONG_NAME_OFFSETS.entries()) {
      const position = (part - 1) * LONG_NAME_OFFSETS.length + index;
      const code = position < name.length ? name.charCodeAt(position) : position === name.length ? 0 : 0xffff;
      view.setUint16(at + offset, code, true);
    }
  }
  return at;
}

type ShortEntry = { readonly at: number; readonly short: string; readonly cluster: number; readonly bytes: number };

function writeShortEntry(image: Uint8Array, { at, short, cluster, bytes }: ShortEntry): void {
  const view = new DataView(image.buffer);
  writeText(image, at, short);
  image[at + 11] = ARCHIVE;
  view.setUint16(at + 26, cluster, true);
  view.setUint32(at + 28, bytes, true);
}

/** The checksum of a short name. The entries of the long name contain it to refer to the short name. */
function checksum(short: string): number {
  let sum = 0;
  for (const code of new TextEncoder().encode(short)) sum = ((sum & 1) << 7 | sum >> 1) + code & 0xff;
  return sum;
}

function writeText(image: Uint8Array, at: number, text: string): void {
  image.set(new TextEncoder().encode(text), at);
}
