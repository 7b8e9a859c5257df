// Shows the serial console of an instance. The terminal is loaded only for this page.
import type { ConsoleTicketBody, OpenConsole } from "../../src/contract/console.ts";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, type Refusal, refusalOf } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { writersOnly } from "../core/session.ts";
import { counted } from "../core/text.ts";
import { say } from "../core/toast.ts";
import { AsCommand, Problem } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import type { Connection } from "../terminal/connection.ts";
import type { Screen } from "../terminal/screen.ts";
import { InstanceHeading } from "./instance-heading.tsx";
import { instanceQuery } from "./queries.ts";

/** In the state "watching", the user cannot type. In the state "ended", the page also shows the reason. */
type Link = "closed" | "opening" | "typing" | "watching" | "ended";

export function InstanceConsole({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const name = instance?.name ?? "";
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Console" />
      {instance !== undefined && <Terminal id={id} name={name} />}
      <AsCommand line={tenantctl("instance console", [name])} />
    </>
  );
}

function Terminal({ id, name }: { readonly id: string; readonly name: string }) {
  const box = useRef<HTMLDivElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  const parts = useRef<{ screen?: Screen; connection?: Connection }>({});
  const link = useSignal<Link>("closed");
  const note = useSignal("");
  const refusal = useSignal<Refusal | null>(null);
  const isPaused = useSignal(false);
  /**
   * Output that arrived while the screen is paused. The page does not confirm this output, so the node pauses when the
   * unconfirmed output reaches its limit.
   */
  const held = useRef<Uint8Array[]>([]);
  /** The number of the newest connection. A connection with an earlier number must have no effect on the page. */
  const newest = useRef(0);

  const show = (bytes: Uint8Array) =>
    parts.current.screen?.write(bytes, () => parts.current.connection?.used(bytes.length));
  const pause = (on: boolean) => {
    isPaused.value = on;
    if (!on) held.current.splice(0).forEach(show);
    parts.current.screen?.focus();
  };

  async function open(wanted: ConsoleTicketBody): Promise<void> {
    const number = ++newest.current;
    const isPresent = () => number === newest.current;
    parts.current.connection?.close();
    refusal.value = null;
    note.value = "";
    link.value = "opening";
    try {
      const [{ connect }, { openScreen }] = await Promise.all([
        import("../terminal/connection.ts"),
        import("../terminal/screen.ts"),
      ]);
      if (box.current === null || !isPresent()) return;
      parts.current.screen ??= openScreen(
        box.current,
        (text) => link.peek() === "typing" && parts.current.connection?.type(text),
        () => first.current?.focus(),
      );
      parts.current.screen.clear();
      held.current = [];
      const connection = await connect(id, wanted, {
        ready: (isWriter) => {
          if (!isPresent()) return;
          link.value = isWriter ? "typing" : "watching";
          parts.current.screen?.focus();
        },
        output: (bytes) => {
          if (!isPresent()) return;
          if (isPaused.peek()) held.current.push(bytes);
          else show(bytes);
        },
        demoted: (by) => {
          if (!isPresent()) return;
          link.value = "watching";
          note.value = `${by} took the console over. You only watch now.`;
        },
        note: (text) => {
          if (isPresent()) note.value = text;
        },
        ended: (reason) => {
          if (!isPresent()) return;
          link.value = "ended";
          note.value = reason;
        },
      });
      // The user has left the page or opened another connection meanwhile.
      if (!isPresent()) return connection.close();
      parts.current.connection = connection;
    } catch (error) {
      if (!isPresent()) return;
      link.value = "closed";
      refusal.value = refusalOf(error);
    }
  }
  useEffect(() => {
    void open({ mode: writersOnly() === null ? "write" : "watch" });
    return () => {
      newest.current++;
      parts.current.connection?.close();
      parts.current.screen?.dispose();
    };
  }, []);

  const copy = () =>
    void navigator.clipboard.writeText(parts.current.screen?.text() ?? "")
      .then(() => say("Copied"), () => say("Copying is refused"));
  const isOpen = link.value === "typing" || link.value === "watching";
  return (
    <>
      <div class="tabs" role="group" aria-label="Console">
        <button type="button" ref={first} aria-pressed={isPaused.value} onClick={() => pause(!isPaused.value)}>
          {isPaused.value ? "Continue" : "Pause"}
        </button>
        <button type="button" onClick={copy}>Copy</button>
        <a class="button" href={`/v1/instances/${id}/console-log`} download={`${name}.log`}>Download the log</a>
        {link.value !== "typing" && (
          <button
            type="button"
            aria-disabled={link.value === "opening" || writersOnly() !== null}
            title={writersOnly() ?? undefined}
            onClick={() => {
              if (writersOnly() === null) void open({ mode: "write" });
            }}
          >
            Type
          </button>
        )}
        {link.value !== "typing" && writersOnly() === null && (
          <button
            type="button"
            onClick={() => void open({ mode: "write", take_over: true })}
          >
            Take over
          </button>
        )}
        {link.value !== "watching" && (
          <button type="button" onClick={() => void open({ mode: "watch" })}>Only watch</button>
        )}
        {isOpen && <button type="button" onClick={() => parts.current.connection?.close()}>Disconnect</button>}
        <span class="dim" role="status">{LINK_TEXTS[link.value]} {note.value}</span>
      </div>
      {refusal.value !== null && <Problem refusal={refusal.value} />}
      <Watchers id={id} is_open={isOpen} />
      <div class="serial" ref={box} />
      <p class="hint">
        <kbd>Ctrl F6</kbd> leaves the terminal. One user types, others watch.
      </p>
    </>
  );
}

/** Names the users who have a console of this instance open, including this user. */
function Watchers({ id, is_open }: { readonly id: string; readonly is_open: boolean }) {
  const { data } = useQuery({
    key: `consoles ${id}`,
    kinds: ["console-session"],
    fresh_ms: WATCHERS_MS,
    read: (signal) => get<{ items: OpenConsole[] }>(`/v1/instances/${id}/consoles`, undefined, signal),
  });
  // The list shows a new console a moment after its connection.
  if (data === undefined || data.items.length === 0) return <p class="hint">{is_open ? "…" : "No open console."}</p>;
  const names = data.items.map(({ username, mode }) => `${username} (${mode})`);
  return <p class="hint">{counted(names.length, "open console")}: {names.join(", ")}</p>;
}

/** The list is read again after this time in milliseconds, because the feed does not report every end of a console. */
const WATCHERS_MS = 5_000;

const LINK_TEXTS: Readonly<Record<Link, string>> = {
  closed: "Not connected.",
  opening: "Connecting…",
  typing: "Connected.",
  watching: "Watching.",
  ended: "",
};
