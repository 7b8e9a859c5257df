// SmartOS: a one-line document names the folder of the newest platform image, which has a USB image and a list of
// hashes. The folders of older platform images remain.
import { unreadable } from "../fault.ts";
import { latestChannel } from "../latest-channel.ts";
import type { BuildDraft, Vendor, Visit } from "../vendor.ts";

const HOST = "https://us-central.manta.mnx.io";
const FOLDER = "/Joyent_Dev/public/SmartOS/";
/** SmartOS itself has no releases. In the index it has only this release, to which the channel points. */
const RELEASE = { id: "rolling", version: "rolling", title: "SmartOS rolling" };

export const smartos: Vendor = {
  id: "smartos",
  name: "SmartOS",
  homepage: "https://smartos.org/",
  os_family: "illumos",
  hosts: ["us-central.manta.mnx.io"],
  end_of_life_product: null,
  list: (visit) =>
    Promise.resolve([latestChannel(async () => ({ release: RELEASE, builds: [await newestBuild(visit)] }))]),
};

async function newestBuild(visit: Visit): Promise<BuildDraft> {
  const pointer = `${HOST}${FOLDER}latest`;
  const line = (await visit.text(pointer)).trim();
  const build = line.startsWith(FOLDER) ? line.slice(FOLDER.length) : "";
  // The suffix after the time, if any, names a branch.
  if (!/^\d{8}T\d{6}Z(?:_\w{1,40})?$/.test(build)) throw unreadable(pointer, "does not name a platform");
  const folder = `${HOST}${FOLDER}${build}/`;
  const filename = `smartos-${build}-USB.img.gz`;
  return {
    build,
    point_release: null,
    artifacts: [{
      url: `${folder}${filename}`,
      variant: "usb",
      default_variant: true,
      arch: "x86_64",
      format: "raw",
      compression: "gzip",
      // SmartOS has no cloud-init and reads its metadata in another way.
      datasources: [],
      ssh_key_injection: false,
      checksum: {
        document: { url: `${folder}sha256sums.txt`, format: "gnu", algorithm: "sha256", signature: null },
        filename,
      },
    }],
  };
}
