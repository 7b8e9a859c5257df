import { describe, expect, test } from "vitest";
import { METADATA_IPV4, METADATA_IPV6 } from "../../nodeagent/network/names.ts";
import { isFault } from "../../src/contract/fault.ts";
import { readBlocks } from "../../src/lib/net/ip-block.ts";
import { unusableBlockFault } from "../../src/lib/net/unusable-block.ts";

function faultOf(text: string) {
  const read = readBlocks(text.includes(":") ? { ipv6_block: text } : { ipv4_block: text }, "vpc");
  if (isFault(read)) throw new Error(`${text}: ${read.message}`);
  return unusableBlockFault(read);
}

describe("a VPC cannot use", () => {
  test.each([
    ["0.0.0.0/0", "ipv4_block must not contain every address: 0.0.0.0/0"],
    ["::/0", "ipv6_block must not contain every address: ::/0"],
    ["0.255.255.0/24", "ipv4_block must not be inside 0.0.0.0/8 (unspecified addresses): 0.255.255.0/24"],
    ["127.0.0.0/8", "ipv4_block must not be inside 127.0.0.0/8 (loopback addresses): 127.0.0.0/8"],
    [
      "169.254.1.0/24",
      "ipv4_block must not be inside 169.254.0.0/16 (link-local addresses and the metadata service): 169.254.1.0/24",
    ],
    ["239.255.255.0/24", "ipv4_block must not be inside 224.0.0.0/4 (multicast addresses): 239.255.255.0/24"],
    ["::1/128", "ipv6_block must not be inside ::1/128 (the loopback address): ::1/128"],
    ["febf::/64", "ipv6_block must not be inside fe80::/10 (link-local addresses): febf::/64"],
    ["ff05::/16", "ipv6_block must not be inside ff00::/8 (multicast addresses): ff05::/16"],
  ])("%s", (text, message) => {
    expect(faultOf(text)).toMatchObject({ kind: "bad_request", message });
  });

  test.each([`${METADATA_IPV4}/32`, `${METADATA_IPV6}/128`])("the metadata service's address %s", (text) => {
    expect(faultOf(text)?.message).toContain("the metadata service");
  });
});

test.each([
  ...["1.0.0.0/8", "10.0.0.0/8", "126.0.0.0/8", "128.0.0.0/8", "169.253.0.0/16", "169.255.0.0/16", "172.16.0.0/12"],
  ...["64.0.0.0/2", "192.168.0.0/16", "223.0.0.0/8", "240.0.0.0/8", "100.64.0.0/10"],
  ...[
    "::2/127",
    "::/64",
    "fd00::/8",
    "fd00:ec2::/64",
    "2001:db8::/32",
    "fd00::/32",
    "fd00:ec2:0:1::/64",
    "fe40::/10",
    "fec0::/10",
    "fe00::/9",
  ],
])("a VPC can use %s", (text) => {
  expect(faultOf(text)).toBeNull();
});
