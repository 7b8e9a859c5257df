// Lists the names of the stories, in the order in which they run. All stories need `nodes` to run first. `move` and
// `power-cut` also need `tenant`.
export const STORIES = ["nodes", "tenant", "move", "power-cut", "kills"] as const;
/** The stories that run by default without KVM. Without KVM, each virtual machine on a node is emulated twice. */
export const EMULATED = ["nodes", "kills"] as const satisfies readonly (typeof STORIES)[number][];
export type Story = (typeof STORIES)[number];

export function isStory(name: string): name is Story {
  return STORIES.some((each) => each === name);
}
