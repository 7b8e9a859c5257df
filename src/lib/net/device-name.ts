/** The name of a network interface. Linux allows 15 characters. */
export const DEVICE_NAME = /^[\w.-]{1,15}$/;
