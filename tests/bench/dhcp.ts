// Compares the DHCP server of the booter with Kea. perfdhcp measures both in turn over the same link. The booter has
// boot records of the machines, and Kea has reservations for them. The program exits with 0 if two conditions hold. At
// each rate, the booter's median loss is at most one percentage point above Kea's loss. At the lower of the two rates,
// the mean delay of the booter's offers is below half a millisecond in the median round. Options: --rounds=N,
// --seconds=N, --json.
import { execFile } from "node:child_process";
import { loadavg } from "node:os";
import process from "node:process";
import { parseArgs, promisify } from "node:util";
import { lacking } from "../support/optional-programs.ts";
import { cpuTime_ms } from "./cpu-time.ts";
import { type DhcpSite, MACHINES, openDhcpSite, SERVER, type Server } from "./dhcp-site.ts";
import { median } from "./report.ts";

const RATES = [2_000, 4_000] as const;
const DELAY_MS_MAX = 0.5;
const LOSS_POINTS_MAX = 1;
/** The load for a new server until it replies to nearly all requests. */
const FIRST = { rate: 500, seconds: 2 } as const;
/** The load of the warm-up, which runs after FIRST. Its rate is the lower of the two measured rates. */
const WARM = { rate: RATES[0], seconds: 3 } as const;
/** The vendor class PXEClient:Arch:00007:UNDI:003000. */
const CLASS_HEX = "505845436c69656e743a417263683a30303030373a554e44493a303033303030";

type Result = {
  readonly loss_percent: number;
  readonly delay_ms: number;
  /** The processor time of the server for each completed exchange, in microseconds. */
  readonly cpu_us: number;
};
type Line = { readonly server: string; readonly rate: number; readonly load: number } & Result;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "6" },
    json: { type: "boolean", default: false },
  },
});
const run = promisify(execFile);

const why_not = process.getuid?.() === 0 ? lacking("ip", "perfdhcp", "kea-dhcp4") : "it needs root";
if (why_not !== null) {
  console.log(`DHCP is not compared with Kea: ${why_not}`);
  process.exit(0);
}

const site = await openDhcpSite();
const lines: Line[] = [];
try {
  const servers: readonly (readonly [string, () => Promise<Server>])[] = [
    ["kea", site.startKea],
    ["booter", site.startBooter],
  ];
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const [server, start] of servers) {
      const running = await start();
      try {
        await untilAnswered(site, running);
        await measure(site, running, WARM);
        for (const rate of RATES) {
          const result = await measure(site, running, { rate, seconds: Number(values.seconds) });
          const load = loadavg()[0] ?? NaN;
          lines.push({ server, rate, load, ...result });
          console.error(`round ${round}: ${server} at ${rate}/s: ${words(result)}, load ${load.toFixed(1)}`);
        }
      } finally {
        await running.stop();
      }
    }
  }
} finally {
  await site.close();
}

const medians = (server: string, rate: number): Result => {
  const those = lines.filter((each) => each.server === server && each.rate === rate);
  return {
    loss_percent: median(those.map((each) => each.loss_percent)) ?? NaN,
    delay_ms: median(those.map((each) => each.delay_ms)) ?? NaN,
    cpu_us: median(those.map((each) => each.cpu_us)) ?? NaN,
  };
};
const summary = RATES.map((rate) => ({ rate, kea: medians("kea", rate), booter: medians("booter", rate) }));
const broken = summary.flatMap(({ rate, kea, booter }) => [
  ...(booter.loss_percent <= kea.loss_percent + LOSS_POINTS_MAX ? [] : [`too many exchanges are lost at ${rate}/s`]),
  ...(rate !== RATES[0] || booter.delay_ms < DELAY_MS_MAX ? [] : [`offers take too long at ${rate}/s`]),
]);
if (values.json) {
  console.log(JSON.stringify({ measured_at: new Date().toISOString(), summary, lines, broken }, null, 2));
} else {
  for (const { rate, kea, booter } of summary) {
    console.log(`${rate} exchanges/s   kea ${words(kea)}   booter ${words(booter)}`);
  }
  for (const each of broken) console.log(`BROKEN: ${each}`);
}
// Ends the process now, because the database driver keeps idle sockets open for a while.
process.exit(broken.length === 0 ? 0 : 1);

/** Waits until the server replies to nearly all requests at a low rate. */
async function untilAnswered(where: DhcpSite, server: Server): Promise<void> {
  for (let tries = 1; tries <= 15; tries++) {
    const { loss_percent } = await measure(where, server, FIRST);
    if (loss_percent < 5) return;
  }
  throw new Error("the server does not reply");
}

async function measure(
  { clients, wire, macs }: DhcpSite,
  server: Server,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<Result> {
  const words = ["-4", "-l", wire, "-r", `${rate}`, "-R", `${MACHINES}`, "-p", `${seconds}`, "-W", "1000000"];
  const client = ["-o", `60,${CLASS_HEX}`, "-o", "93,0007", "-M", macs, SERVER];
  const before_ms = await cpuTime_ms(server.pid) ?? NaN;
  const child = run("ip", ["netns", "exec", clients, "perfdhcp", ...words, ...client], { maxBuffer: 16_000_000 });
  // A non-zero exit status can mean only that packets were dropped. The output contains their number.
  const text = await child.then(({ stdout }) => stdout, ({ stdout }: { stdout?: string }) => stdout ?? "");
  return readReport(text, (await cpuTime_ms(server.pid) ?? NaN) - before_ms);
}

/** Parses perfdhcp's output. An exchange is complete when the client gets the acknowledgement. */
function readReport(text: string, cpu_ms: number): Result {
  const [, offers = "", acks = ""] = text.split(/\*\*\*Statistics for: .*\*\*\*/);
  const figure = (part: string, name: string) => Number(new RegExp(`${name}: ([\\d.]+)`).exec(part)?.[1] ?? NaN);
  const sent = figure(offers, "sent packets");
  const completed = figure(acks, "received packets");
  const loss_percent = 100 * (1 - completed / sent);
  if (!Number.isFinite(loss_percent)) throw new Error(`perfdhcp printed:\n${text}`);
  return { loss_percent, delay_ms: figure(offers, "avg delay"), cpu_us: 1_000 * cpu_ms / completed };
}

function words({ loss_percent, delay_ms, cpu_us }: Result): string {
  return `${loss_percent.toFixed(2)} % lost, offer after ${delay_ms.toFixed(2)} ms, CPU ${cpu_us.toFixed(0)} us`;
}
