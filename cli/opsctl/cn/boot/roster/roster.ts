export const ROSTER_PATH = "/v2/cn-boot-roster";
