// Shows the screen of the virtual graphics card of an instance, as one picture.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { getBlob, type Refusal, refusalOf } from "../core/client.ts";
import { tenantctl } from "../core/command.ts";
import { useKeys } from "../core/keys.ts";
import { AsCommand, Problem, When } from "../parts/basics.tsx";
import { useQuery } from "../parts/use-query.ts";
import { InstanceHeading } from "./instance-heading.tsx";
import { instanceQuery } from "./queries.ts";

export function InstanceScreen({ id }: { readonly id: string }) {
  const { data: instance, refusal } = useQuery(instanceQuery(id));
  const canvas = useRef<HTMLCanvasElement>(null);
  const taken_at = useSignal<string | null>(null);
  const failed = useSignal<Refusal | null>(null);
  const busy = useSignal(false);

  async function take(): Promise<void> {
    if (busy.peek()) return;
    busy.value = true;
    failed.value = null;
    try {
      // The content security policy allows no image from a blob's address, so the picture is drawn on a canvas.
      const picture = await createImageBitmap(await getBlob(`/v1/instances/${id}/screenshot`));
      const at = canvas.current;
      if (at === null) return;
      [at.width, at.height] = [picture.width, picture.height];
      at.getContext("2d")?.drawImage(picture, 0, 0);
      taken_at.value = new Date().toISOString();
    } catch (error) {
      failed.value = refusalOf(error);
    } finally {
      busy.value = false;
    }
  }
  useEffect(() => void take(), [id]);
  useKeys({ r: () => void take() });
  const name = instance?.name ?? "";
  return (
    <>
      <InstanceHeading id={id} instance={instance} refusal={refusal} part="Screen" />
      <div class="tabs">
        <button type="button" aria-disabled={busy.value} aria-keyshortcuts="r" onClick={() => void take()}>
          {busy.value ? "Taking a picture…" : "Take another"} <kbd>r</kbd>
        </button>
        {taken_at.value !== null && (
          <span class="dim">
            Taken <When at={taken_at.value} />
          </span>
        )}
      </div>
      {failed.value !== null && <Problem refusal={failed.value} />}
      <canvas
        class="screen"
        ref={canvas}
        role="img"
        aria-label={`The screen of ${name}`}
        hidden={taken_at.value === null}
      />
      <AsCommand line={tenantctl("instance screenshot", [name], { "--to": `${name}.png` })} />
    </>
  );
}
