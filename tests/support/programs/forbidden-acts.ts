// Tries actions that the server process never does, and prints the result of each as JSON: the name of the error, or
// "done".
import process from "node:process";

const place = process.argv[2] ?? "";
const acts: Readonly<Record<string, () => unknown>> = {
  "read a file of the system": () => Deno.readTextFileSync("/etc/passwd"),
  "list the root folder": () => [...Deno.readDirSync("/")],
  "list another folder": () => [...Deno.readDirSync(place)],
  "look at the real path of a folder": () => Deno.realPathSync(place),
  "write a file": () => Deno.writeTextFileSync(`${place}/written`, "x"),
  "make a folder": () => Deno.mkdirSync(`${place}/made`),
  "make a temporary file": () => Deno.makeTempFileSync(),
  "remove a file": () => Deno.removeSync(`${place}/kept`),
  "change the mode of a file": () => Deno.chmodSync(`${place}/kept`, 0o777),
  "make a link": () => Deno.symlinkSync("/etc/passwd", `${place}/link`),
  "start a program": () => new Deno.Command("true").outputSync(),
  "signal another process": () => Deno.kill(Deno.ppid, "SIGCONT"),
  "load a library": () => Deno.dlopen("libc.so.6", {}),
  "read a variable of others": () => Deno.env.get("HOME"),
  "read all variables": () => Deno.env.toObject(),
  "set a variable": () => Deno.env.set("LD_PRELOAD", "x"),
  "read the host's name": () => Deno.hostname(),
  "read the host's interfaces": () => Deno.networkInterfaces(),
  "connect to another host": () => Deno.connect({ hostname: "192.0.2.1", port: 80 }),
  "connect to another port of this machine": () => Deno.connect({ hostname: "127.0.0.1", port: 9 }),
  "listen for others": () => Deno.listen({ hostname: "0.0.0.0", port: 0 }).close(),
  "resolve a name": () => Deno.resolveDns("localhost", "A"),
  "import code from another folder": () => import(`file://${place}/code.ts`),
  "start a worker on code from another folder": () =>
    new Promise((settle, fail) => {
      const worker = new Worker(`file://${place}/code.ts`, { type: "module" });
      worker.onmessage = settle;
      worker.onerror = (event) => {
        event.preventDefault();
        fail(new Deno.errors.NotCapable(event.message));
      };
    }),
};

const outcomes: Record<string, string> = {};
/** The time limit of an action. On a network that does not respond, a connection attempt would take minutes. */
const LIMIT_MS = 2_000;
for (const [name, act] of Object.entries(acts)) {
  try {
    await Promise.race([act(), new Promise((_, late) => setTimeout(() => late(new Error("no answer")), LIMIT_MS))]);
    outcomes[name] = "done";
  } catch (error) {
    const { message } = error as Error;
    // An import wraps the permission error in its own kind of error.
    outcomes[name] = /^Requires \w+ access/.test(message) ? "NotCapable" : (error as Error).name;
  }
}
console.log(JSON.stringify(outcomes));
process.exit(0);
