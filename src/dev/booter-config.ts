// Builds the configuration of a booter on loopback, with free ports.

export type LoopbackParts = {
  readonly server_url: string;
  /** Text that is added after the configuration, such as more blocks. */
  readonly more: string;
  /** Text that is added before the configuration, such as settings outside of all blocks. */
  readonly top?: string;
};

/** Returns a configuration of a booter that keeps its files in `folder` and its key in `folder`/key. */
export function loopbackConfig(folder: string, { server_url, more, top = "" }: LoopbackParts): string {
  return `${top}state_dir = "${folder}/state"
files_dir = "${folder}/files"
[control_plane]
url = "${server_url}"
key_file = "${folder}/key"
[[segment]]
address = "127.0.0.1"
prefix_len = 8
[dhcp]
listen = "127.0.0.1"
port = 0
relay_reply = "source"
[tftp]
port = 0
[http]
port = 0
[metrics]
port = 0
${more}`;
}

export type SetupFacts = {
  /** The control plane's URL, from which a machine also gets the install script. */
  readonly endpoint: string;
  readonly stamp: string;
  /** SHA-256 in lower-case hex. */
  readonly platform_sha256: string;
  readonly boot_sha256: string;
};

/** Returns the configuration of the booter's [ur] block, which sets machines up. */
export function setupBlock({ endpoint, stamp, platform_sha256, boot_sha256 }: SetupFacts): string {
  return `[ur]
port = 0
[ur.setup]
install_sh_url = "${endpoint}/install.sh"
agent_endpoint = "${endpoint}"
platform_stamp = "${stamp}"
platform_image_sha256 = "${platform_sha256}"
boot_image_stamp = "${stamp}"
boot_image_sha256 = "${boot_sha256}"
`;
}
