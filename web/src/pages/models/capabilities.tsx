import { Badge } from "../../design/badge.tsx";
import { nameCapability } from "../../parts/format/model-labels.ts";

export function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <ul className="flex max-w-80 flex-wrap gap-1.5">
      {names.map((name) => (
        <li key={name}>
          <Badge>{nameCapability(name)}</Badge>
        </li>
      ))}
    </ul>
  );
}
