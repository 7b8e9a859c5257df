// Runs one tenantctl command line in this process, with the real network and virtual waiting.
import { runTenantctl } from "../../../cli/tenantctl/program.ts";
import { type FakeWorld, fakeWorld } from "../fake-world.ts";

export type Ran = FakeWorld & { readonly code: number };
export type Options = {
  readonly env?: Record<string, string>;
  readonly isTTY?: boolean;
  readonly typed?: string;
  readonly home_dir?: string;
  /** Seen with every request. */
  readonly onFetch?: (fake: FakeWorld, url: string) => void;
};

export async function tenantctl(words: readonly string[], options: Options = {}): Promise<Ran> {
  const { onFetch, ...plain } = options;
  const fake = fakeWorld({ env: {}, ...plain });
  const world: FakeWorld["world"] = {
    ...fake.world,
    outbound: (url, given) => {
      onFetch?.(fake, url);
      return fake.world.outbound(url, given);
    },
  };
  const code = await runTenantctl(words, world);
  return { ...fake, world, code };
}
