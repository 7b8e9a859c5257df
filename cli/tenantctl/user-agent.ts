import { VERSION } from "../version.ts";

export const USER_AGENT = `tenantctl/${VERSION}`;
