// Hashes and checks passwords in a worker thread, one at a time. The parameters for argon2id are from the OWASP
// Password Storage Cheat Sheet.
import { randomBytes } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { argon2id, argon2Verify } from "hash-wasm";

export type PasswordTask =
  | { readonly id: number; readonly do: "hash"; readonly password: string }
  | { readonly id: number; readonly do: "verify"; readonly password: string; readonly hash: string };
export type PasswordAnswer = { readonly id: number; readonly value?: string | boolean; readonly error?: string };

const COST = { memorySize: 19_456, iterations: 2, parallelism: 1, hashLength: 32 } as const;
const SALT_BYTES = 16;

async function work(task: PasswordTask): Promise<string | boolean> {
  const { password } = task;
  if (task.do === "verify") return await argon2Verify({ password, hash: task.hash });
  return await argon2id({ ...COST, password, salt: randomBytes(SALT_BYTES), outputType: "encoded" });
}

parentPort?.on("message", (task: PasswordTask) => {
  work(task).then(
    (value) => ({ id: task.id, value }),
    // The library's error texts never contain the password.
    (error) => ({ id: task.id, error: error instanceof Error ? error.message : "the hash failed" }),
  ).then((answer: PasswordAnswer) => parentPort?.postMessage(answer));
});
