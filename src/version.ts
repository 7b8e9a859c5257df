/** The version of this build. A test compares it with the version in package.json. */
export const VERSION = "0.1.0";
