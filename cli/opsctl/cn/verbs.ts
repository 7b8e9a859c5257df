import { type AnyCommand, group } from "../../framework.ts";
import { describe, events } from "../../internal/describe.ts";
import { approve } from "./approve.ts";
import { close } from "./auto-approve/close.ts";
import { open } from "./auto-approve/open.ts";
import { status } from "./auto-approve/status.ts";
import { bootVerbs } from "./boot/verbs.ts";
import { cordon, uncordon } from "./cordon.ts";
import { DESCRIBED_NODE } from "./describe.ts";
import { disable } from "./disable.ts";
import { drain } from "./drain.ts";
import { drainPreview } from "./drain-preview.ts";
import { doctor } from "./doctor.ts";
import { enable } from "./enable.ts";
import { evacuate } from "./evacuate.ts";
import { exec } from "./exec/exec.ts";
import { factoryReset } from "./factory-reset.ts";
import { set as setLabel } from "./label/set.ts";
import { hardware } from "./hardware.ts";
import { list, show } from "../record/verbs.ts";
import { NODE } from "./node.ts";
import { set as setPlacement } from "./placement/set.ts";
import { show as showPlacement } from "./placement/show.ts";
import { remove } from "./remove.ts";
import { clear as clearReservoir } from "./reservoir/clear.ts";
import { set as setReservoir } from "./reservoir/set.ts";
import { rootPassword } from "./root-password.ts";
import { approve as approveSetup } from "./setup/approve.ts";
import { plan } from "./setup/plan.ts";
import { clear as clearTraits } from "./traits/clear.ts";
import { set as setTraits } from "./traits/set.ts";
import { show as showTraits } from "./traits/show.ts";
import { upgrade } from "./upgrade.ts";
import { set as setUnderlay } from "./underlay/set.ts";
import { show as showUnderlay } from "./underlay/show.ts";

export function cnVerbs(): AnyCommand[] {
  return [
    list(NODE),
    show(NODE),
    describe(DESCRIBED_NODE),
    events(DESCRIBED_NODE),
    doctor(),
    hardware(),
    approve(),
    group("setup", "Setup of a bare machine", [plan(), approveSetup()]),
    cordon(),
    uncordon(),
    disable(),
    enable(),
    factoryReset(),
    remove(),
    group("label", "Labels and placement role of a node", [setLabel()]),
    group("traits", "Traits of a node, which instances can require", [showTraits(), setTraits(), clearTraits()]),
    group("placement", "Placement settings of a node: reserve, cordon, pin, overprovision", [
      showPlacement(),
      setPlacement(),
    ]),
    group("underlay", "Underlay address and MTU of a node", [showUnderlay(), setUnderlay()]),
    drain(),
    drainPreview(),
    upgrade(),
    evacuate(),
    group("reservoir", "Memory reservoir for virtual machines, per node", [setReservoir(), clearReservoir()]),
    group("auto-approve", "Auto-approve window: new nodes need no claim code", [status(), open(), close()]),
    group("boot", "Netboot: boot records, policy and roster", bootVerbs()),
    rootPassword(),
    exec(),
  ];
}
