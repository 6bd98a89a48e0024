import { Badge, type BadgeKind } from "../../../design/badge.tsx";
import type { ListedAccount } from "../fetch-admin.ts";

const looks: Readonly<Record<ListedAccount["status"], { kind: BadgeKind; name: string }>> = {
  active: { kind: "good", name: "Active" },
  suspended: { kind: "bad", name: "Suspended" },
  frozen: { kind: "warning", name: "Frozen" },
  closed: { kind: "neutral", name: "Closed" },
};

export const accountStatusNames = Object.entries(looks).map(([value, { name }]) => ({ value, label: name }));

export function AccountStatus({ status }: { status: ListedAccount["status"] }) {
  const { kind, name } = looks[status];
  return <Badge kind={kind}>{name}</Badge>;
}
