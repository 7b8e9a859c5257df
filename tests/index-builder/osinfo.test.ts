import { expect, test } from "vitest";
import { pointEntry, releaseEntry } from "../../index-builder/osinfo/lookup.ts";

test.each([
  ["ubuntu", "22.04", "http://ubuntu.com/ubuntu/22.04", "ubuntu22.04", "database"],
  ["ubuntu", "26.04", "http://ubuntu.com/ubuntu/26.04", "ubuntu26.04", "rule"],
  ["debian", "13.7", "http://debian.org/debian/13", "debian13", "rule"],
  ["debian", "11.1", "http://debian.org/debian/11", "debian11", "database"],
  ["rocky", "9", "http://rockylinux.org/rocky/9", "rocky9", "database"],
  ["alma", "10", "http://almalinux.org/almalinux/10", "almalinux10", "rule"],
  ["centos-stream", "10", "http://centos.org/centos-stream/10", "centos-stream10", "rule"],
  ["fedora", "44", "http://fedoraproject.org/fedora/44", "fedora44", "rule"],
  ["oracle", "9.8-b293", "http://oracle.com/ol/9.8", "ol9.8", "rule"],
  ["opensuse", "15.4", "http://opensuse.org/opensuse/15.4", "opensuse15.4", "database"],
  ["alpine", "3.17.1", "http://alpinelinux.org/alpinelinux/3.17", "alpinelinux3.17", "database"],
  ["arch", "rolling", "http://archlinux.org/archlinux/rolling", "archlinux", "database"],
  ["openbsd", "7.9", "http://openbsd.org/openbsd/7.9", "openbsd7.9", "rule"],
])("%s %s has the entry %s", (distro, version, id, short_id, source) => {
  expect(releaseEntry(distro, version)).toEqual({ id, short_id, source });
});

test("betas, FreeBSD's major versions, and systems that are not in the database have no entry", () => {
  expect(releaseEntry("fedora", "45 Beta")).toBeNull();
  expect(releaseEntry("freebsd", "15")).toBeNull();
  for (const distro of ["omnios", "smartos", "talos"]) expect(releaseEntry(distro, "1.14")).toBeNull();
});

test("a point release has an entry of its own only if the database lists it, or if its distro has a rule for point releases", () => {
  expect(pointEntry("freebsd", "15.1")?.short_id).toBe("freebsd15.1");
  expect(pointEntry("rocky", "9.0")?.short_id).toBe("rocky9.0");
  expect(pointEntry("rocky", "9.8")).toBeNull();
  expect(pointEntry("debian", "13.7")).toBeNull();
});
