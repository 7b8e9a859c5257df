// The names of the stories, in the order in which they run. Each one needs `nodes`, and `move` and `power-cut` need
// `tenant`.
export const STORIES = ["nodes", "tenant", "move", "power-cut", "kills"] as const;
/** The stories that run by default without KVM, where each boot of a virtual machine on a node is emulated twice. */
export const EMULATED = ["nodes", "kills"] as const satisfies readonly (typeof STORIES)[number][];
export type Story = (typeof STORIES)[number];

export function isStory(name: string): name is Story {
  return STORIES.some((each) => each === name);
}
