import { joinClasses } from "../../design/join-classes.ts";
import { useBrand } from "./use-brand.ts";

const names = { support: "Support", status: "Status", terms: "Terms", privacy: "Privacy" } as const;
const order = ["support", "status", "terms", "privacy"] as const;

/** The operator's links; nothing if none are set. */
export function BrandLinks({ className = "" }: { className?: string }) {
  const { links } = useBrand();
  const places = order.flatMap((place) => (links[place] === null ? [] : [{ place, url: links[place] }]));
  if (places.length === 0) return null;
  return (
    <ul aria-label="About this service" className={joinClasses("flex flex-wrap gap-x-4 gap-y-1", className)}>
      {places.map(({ place, url }) => (
        <li key={place}>
          <a href={url} className="underline-offset-4 hover:text-ink hover:underline">
            {names[place]}
          </a>
        </li>
      ))}
    </ul>
  );
}
