/** The folders of each value of `npm test -- --shard`, in the order of a run. */
export const shards: Readonly<Record<string, readonly string[]>> = {
  // Its longest file takes minutes and little processor time: started last, it would run alone.
  invariants: ["test/invariants/"],
  api: ["test/api/", "test/repository/", "test/harness/"],
  units: ["src/", "packages/", "scripts/", "web/"],
  browser: ["test/browser/"],
  flows: ["test/flows/"],
};
