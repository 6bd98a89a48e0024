import { Link } from "@tanstack/react-router";
import { Drawing, Icon } from "../../design/icon.tsx";
import { adminNavigation } from "./admin-pages.ts";

/** The operator side in the console's navigation. Only operators load it. */
export function OperatorPlaces({ linkClasses }: { linkClasses: string }) {
  return (
    <nav aria-label="Operator">
      <p className="px-2.5 pb-1 text-xs font-medium text-ink-soft">Operator</p>
      <ul className="flex flex-col gap-0.5">
        {adminNavigation.map(({ to, name, ...place }) => (
          <li key={to}>
            <Link to="/console/admin/$" params={{ _splat: to }} className={linkClasses}>
              {"icon" in place ? <Icon name={place.icon} /> : <Drawing path={place.drawing} />}
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
