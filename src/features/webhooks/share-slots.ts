/** A lane's demand. */
export type LaneNeed = {
  lane: string;
  accountId: string;
  /** How many more may be claimed at the moment. */
  room: number;
};

/**
 * Divides the free slots: equal shares for accounts, then for each account's lanes. If there are too few, accounts that
 * hold the least go first, so that an account that fills its slots with a hanging receiver is served last.
 */
export function shareSlots(
  needs: readonly LaneNeed[],
  freeCount: number,
  { heldByAccount }: { heldByAccount: ReadonlyMap<string, number> },
): Map<string, number> {
  const held = (accountId: string): number => heldByAccount.get(accountId) ?? 0;
  const accounts = [...Map.groupBy(needs, ({ accountId }) => accountId)]
    .toSorted(([one], [other]) => held(one) - held(other))
    .map(([, lanes]) => lanes.toSorted((one, other) => other.room - one.room));
  const shares = divide(
    freeCount,
    accounts.map((lanes) => lanes.reduce((sum, { room }) => sum + room, 0)),
  );
  const claimSizes = new Map<string, number>();
  for (const [index, lanes] of accounts.entries()) {
    const counts = divide(
      shares[index] ?? 0,
      lanes.map(({ room }) => room),
    );
    for (const [place, { lane }] of lanes.entries()) {
      const count = counts[place] ?? 0;
      if (count > 0) claimSizes.set(lane, count);
    }
  }
  return claimSizes;
}

/** Divides evenly, to each no more than its room; the remainder goes to the first with room. */
function divide(total: number, rooms: readonly number[]): number[] {
  const shares = rooms.map(() => 0);
  let left = total;
  let open = rooms.flatMap((room, index) => (room > 0 ? [index] : []));
  while (left > 0 && open.length > 0) {
    const share = Math.max(1, Math.floor(left / open.length));
    for (const index of open) {
      const count = Math.min(share, left, (rooms[index] ?? 0) - (shares[index] ?? 0));
      shares[index] = (shares[index] ?? 0) + count;
      left -= count;
    }
    open = open.filter((index) => (shares[index] ?? 0) < (rooms[index] ?? 0));
  }
  return shares;
}
