// Handles the HTTP routes of the setup script. The values and the reports require the token of a setup run and the IP
// address of the run's machine. The files require only an IP address whose machine may boot.
import type { Files } from "../files.ts";
import { fileAnswer, type HttpAnswer, type HttpAsked, NOT_FOUND, textAnswer } from "../http/answer.ts";
import type { SetupCalls } from "./handover.ts";
import { readReport } from "./report.ts";

export type SetupRouteOptions = {
  readonly calls: SetupCalls;
  readonly files: Files;
  /** Returns whether decision.ts lets the machine at this IP address boot. */
  readonly mayBoot: (address: string) => Promise<boolean>;
};

const TOKEN = /^[0-9a-f]{48}$/;
const FILES = "/setup/files/";

export function setupRoutes({ calls, files, mayBoot }: SetupRouteOptions) {
  return async (asked: HttpAsked): Promise<HttpAnswer | null> => {
    const { method, path, source } = asked;
    if (!path.startsWith("/setup/")) return null;
    if (method !== "POST" && path.startsWith(FILES)) {
      if (!await mayBoot(source)) return NOT_FOUND;
      const file = await files.setupFile(path.slice(FILES.length));
      return file === null ? NOT_FOUND : fileAnswer(file, "application/gzip");
    }
    const token = asked.header("x-setup-token") ?? "";
    if (!TOKEN.test(token)) return NOT_FOUND;
    const caller = { token, address: source };
    if (method === "GET" && path === "/setup/values") {
      const values = await calls.values(caller);
      return values === null ? NOT_FOUND : textAnswer(200, values);
    }
    if (method !== "POST" || path !== "/setup/report") return NOT_FOUND;
    const report = readReport(asked.body);
    if (report === null) return textAnswer(400, "the body is not a setup report\n");
    switch (await calls.report(caller, report)) {
      case "taken":
        return textAnswer(200, "taken\n");
      case "unknown":
        return NOT_FOUND;
      case "stale":
        return textAnswer(409, "this setup run has ended\n");
      case "away":
        return textAnswer(503, "the control plane does not answer; retry\n");
    }
  };
}
