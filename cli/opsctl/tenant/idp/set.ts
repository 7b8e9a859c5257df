import type { Idp, IdpBody } from "../../../../src/contract/identity.ts";
import { type AnyCommand, command } from "../../../framework.ts";
import { readSecret } from "../../../internal/password.ts";
import { withIo } from "../../../internal/run.ts";
import { IDP, idpPath } from "./idp.ts";

export function set(): AnyCommand {
  return command(
    "set",
    "Set or replace the identity provider of a tenant; asks for the client secret",
    "acme/web --issuer-url https://login.example.org --client-id berth",
  )
    .argument(...IDP.argument)
    .requiredOption("--issuer-url <url>", "URL of the issuer, which serves OpenID discovery")
    .requiredOption("--client-id <id>", "client id of this control plane at the issuer")
    .option("--client-secret-stdin", "read the client secret from standard input")
    .option("--audience <audience>", "audience that tokens must name; by default the client id")
    .action(withIo(async (io, tenant, { issuerUrl, clientId, clientSecretStdin, audience }) => {
      const path = await idpPath(io, tenant);
      const client_secret = await readSecret(io, {
        prompt: "Client secret: ",
        from_stdin: clientSecretStdin === true,
        noun: "client secret",
        flag: "--client-secret-stdin",
      });
      const body: IdpBody = { issuer_url: issuerUrl, client_id: clientId, client_secret, audience };
      const idp = await io.post<Idp>(path, body);
      io.print(idp, `Set identity provider ${IDP.title(idp)}`);
    }));
}
