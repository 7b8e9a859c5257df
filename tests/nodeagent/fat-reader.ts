// Reads the label and the files in the root directory of a FAT12 volume. The boot sector contains their positions.

export function readFatVolume(image: Uint8Array): { readonly label: string; readonly files: Record<string, string> } {
  const view = new DataView(image.buffer, image.byteOffset);
  const sector = view.getUint16(11, true);
  const cluster_bytes = image[13]! * sector;
  const fat_at = view.getUint16(14, true) * sector;
  const fat_bytes = view.getUint16(22, true) * sector;
  const root_at = fat_at + image[16]! * fat_bytes;
  const data_at = root_at + view.getUint16(17, true) * 32;
  if (image.length !== view.getUint16(19, true) * sector) throw new Error("the size differs from the boot sector's");
  if (!equal(image.subarray(fat_at, fat_at + fat_bytes), image.subarray(fat_at + fat_bytes, root_at))) {
    throw new Error("the copies of the allocation table differ");
  }
  const next = (cluster: number) => {
    const pair = view.getUint16(fat_at + Math.floor(cluster * 3 / 2), true);
    return cluster % 2 === 0 ? pair & 0xfff : pair >> 4;
  };
  const ascii = (at: number, length: number) =>
    new TextDecoder("latin1").decode(image.subarray(at, at + length)).trim();
  const files: Record<string, string> = {};
  let label = "";
  let name = "";
  for (let at = root_at; image[at] !== 0; at += 32) {
    if (image[at + 11] === 0x0f) {
      name = longPart(view, at) + name;
      continue;
    }
    if (image[at + 11] === 0x08) {
      label = ascii(at, 11);
      continue;
    }
    const size = view.getUint32(at + 28, true);
    const bytes = new Uint8Array(size);
    let done = 0;
    for (let cluster = view.getUint16(at + 26, true); cluster < 0xff8 && done < size; cluster = next(cluster)) {
      const start = data_at + (cluster - 2) * cluster_bytes;
      bytes.set(image.subarray(start, start + Math.min(cluster_bytes, size - done)), done);
      done += cluster_bytes;
    }
    files[name === "" ? ascii(at, 11) : name] = new TextDecoder().decode(bytes);
    name = "";
  }
  return { label, files };
}

function longPart(view: DataView, at: number): string {
  const codes = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30].map((offset) => view.getUint16(at + offset, true));
  return String.fromCharCode(...codes.filter((code) => code !== 0 && code !== 0xffff));
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
