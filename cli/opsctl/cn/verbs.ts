import { type AnyCommand, group } from "../../framework.ts";
import { approve } from "./approve.ts";
import { close } from "./auto-approve/close.ts";
import { open } from "./auto-approve/open.ts";
import { status } from "./auto-approve/status.ts";
import { bootVerbs } from "./boot/verbs.ts";
import { disable } from "./disable.ts";
import { drainPreview } from "./drain-preview.ts";
import { doctor } from "./doctor/doctor.ts";
import { exec } from "./exec/exec.ts";
import { factoryReset } from "./factory-reset.ts";
import { set as setLabel } from "./label/set.ts";
import { list } from "./list.ts";
import { set as setPlacement } from "./placement/set.ts";
import { show as showPlacement } from "./placement/show.ts";
import { remove } from "./remove.ts";
import { clear as clearReservoir } from "./reservoir/clear.ts";
import { set as setReservoir } from "./reservoir/set.ts";
import { rootPassword } from "./root-password.ts";
import { approve as approveSetup } from "./setup/approve.ts";
import { plan } from "./setup/plan.ts";
import { show } from "./show.ts";
import { clear as clearTraits } from "./traits/clear.ts";
import { set as setTraits } from "./traits/set.ts";
import { show as showTraits } from "./traits/show.ts";

export function cnVerbs(): AnyCommand[] {
  return [
    list(),
    show(),
    doctor(),
    approve(),
    group("setup", "Setup of a bare machine", [plan(), approveSetup()]),
    disable(),
    factoryReset(),
    remove(),
    group("label", "Placement role of a node", [setLabel()]),
    group("traits", "Traits of a node, which instances can require", [showTraits(), setTraits(), clearTraits()]),
    group("placement", "Placement settings of a node: reserve, cordon, pin, overprovision", [
      showPlacement(),
      setPlacement(),
    ]),
    drainPreview(),
    group("reservoir", "Memory reservoir for virtual machines, per node", [setReservoir(), clearReservoir()]),
    group("auto-approve", "Auto-approve window: new nodes need no claim code", [status(), open(), close()]),
    group("boot", "Netboot: boot records, policy and roster", bootVerbs()),
    rootPassword(),
    exec(),
  ];
}
