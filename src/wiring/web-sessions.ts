// Records the use of sessions of the web console, so that an idle session ends. The request does not wait for the
// write, and requests that arrive together cause one write.
import type { createEngine } from "../../actors/engine/engine.ts";
import type { Settings } from "../services/settings.ts";

type TouchPorts = {
  readonly engine: Pick<ReturnType<typeof createEngine>, "send">;
  readonly settings: Pick<Settings, "webSessionLimits">;
  readonly report: (message: string, error: unknown) => void;
};

/**
 * Returns the function that records the use of a session. A failure is only reported, because the next request of the
 * session records the use again.
 */
export function createWebSessionTouch({ engine, settings, report }: TouchPorts): (session_id: string) => void {
  const touching = new Set<string>();

  async function touch(id: string): Promise<void> {
    try {
      await engine.send({ kind: "session", id }, { type: "touch", lasts: await settings.webSessionLimits() });
    } catch (error) {
      report("the use of a session was not recorded", error);
    } finally {
      touching.delete(id);
    }
  }

  return (session_id) => {
    if (touching.has(session_id)) return;
    touching.add(session_id);
    void touch(session_id);
  };
}
