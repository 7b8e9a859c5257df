// Hashes passwords with argon2id. A hash takes a tenth of a second and 19 MiB, so a worker thread computes hashes, and
// the number of queued tasks is limited. An unknown user name costs the same work as a wrong password.
import { Worker } from "node:worker_threads";
import { type Fault, fault } from "../contract/fault.ts";
import type { PasswordAnswer, PasswordTask } from "./password-worker.ts";

/** Maximum number of passwords that wait for a worker: about six seconds of work. */
const WAITING_MAX = 64;

/** A hash that no password matches and that takes as long to check as a real hash. */
const NO_PASSWORD = `$argon2id$v=19$m=19456,t=2,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;

export const PASSWORDS_BUSY: Fault = fault("unavailable", "too many passwords are being checked; try again", {
  retry_after_s: 1,
});

export type Passwords = {
  /** Returns the hash of a new password, or a Fault when the queue is full. */
  hash(password: string): Promise<string | Fault>;
  /**
   * Checks a password. `hash` is null for a user who does not exist or has no password: returns false after the same
   * work. Returns a Fault when the queue is full.
   */
  verify(password: string, hash: string | null): Promise<boolean | Fault>;
  close(): Promise<void>;
};

type Wanted = { readonly settle: (value: string | boolean) => void; readonly fail: (error: Error) => void };
type Task = PasswordTask extends infer T ? T extends PasswordTask ? Omit<T, "id"> : never : never;

/** Returns the password functions. The first call starts the worker. */
export function createPasswords(): Passwords {
  const waiting = new Map<number, Wanted>();
  let worker: Worker | null = null;
  let last = 0;

  function start(): Worker {
    const started = new Worker(new URL("./password-worker.ts", import.meta.url));
    started.unref();
    started.on("message", ({ id, value, error }: PasswordAnswer) => {
      const wanted = waiting.get(id);
      waiting.delete(id);
      if (value !== undefined) wanted?.settle(value);
      else wanted?.fail(new Error(error));
      if (waiting.size === 0) started.unref();
    });
    started.on("error", (error) => lose(error instanceof Error ? error : new Error(String(error))));
    started.on("exit", () => lose(new Error("the password worker ended")));
    return started;

    function lose(error: Error): void {
      if (worker === started) abandon(error);
    }
  }

  /** Fails all queued tasks. The next task starts a new worker. */
  function abandon(error: Error): void {
    worker = null;
    for (const { fail } of waiting.values()) fail(error);
    waiting.clear();
  }

  async function ask(task: Task): Promise<string | boolean | Fault> {
    if (waiting.size >= WAITING_MAX) return PASSWORDS_BUSY;
    worker ??= start();
    worker.ref();
    last += 1;
    const id = last;
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<string | boolean>();
    waiting.set(id, { settle, fail });
    worker.postMessage({ ...task, id } satisfies PasswordTask);
    return await promise;
  }

  return {
    hash: async (password) => await ask({ do: "hash", password }) as string | Fault,
    verify: async (password, hash) => {
      // No user has an empty password, and the library refuses to hash it.
      const none = hash === null || password === "";
      const same = await ask({
        do: "verify",
        password: password === "" ? " " : password,
        hash: none ? NO_PASSWORD : hash,
      });
      return typeof same === "boolean" ? same && !none : same as Fault;
    },
    close: async () => {
      const ending = worker;
      abandon(new Error("the server is closing"));
      await ending?.terminate();
    },
  };
}
