// Lists the names of the stories, in the order in which they run. All other stories need `nodes` to run first. `move`
// and `power-cut` also need `tenant`.
export const STORIES = ["nodes", "tenant", "move", "power-cut", "kills"] as const;
export type Story = (typeof STORIES)[number];

export function isStory(name: string): name is Story {
  return STORIES.some((each) => each === name);
}
