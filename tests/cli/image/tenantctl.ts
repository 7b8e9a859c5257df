// Runs one tenantctl command line in this process, with the real network and virtual time.
import { runTenantctl } from "../../../cli/tenantctl/program.ts";
import { type FakeEnvironment, fakeEnvironment } from "../fake-environment.ts";

export type Ran = FakeEnvironment & { readonly code: number };
export type Options = {
  readonly env?: Record<string, string>;
  readonly isTTY?: boolean;
  readonly typed?: string;
  readonly home_dir?: string;
  /** A function that is called before each request to an index or a vendor. */
  readonly onFetch?: (fake: FakeEnvironment, url: string) => void;
};

export async function tenantctl(argv: readonly string[], options: Options = {}): Promise<Ran> {
  const { onFetch, ...plain } = options;
  const fake = fakeEnvironment({ env: {}, ...plain });
  const environment: FakeEnvironment["environment"] = {
    ...fake.environment,
    outbound: (url, given) => {
      onFetch?.(fake, url);
      return fake.environment.outbound(url, given);
    },
  };
  const code = await runTenantctl(argv, environment);
  return { ...fake, environment, code };
}
