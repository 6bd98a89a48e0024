import { Mark } from "../../design/mark.tsx";
import { useBrand } from "./use-brand.ts";

export function BrandMark() {
  const brand = useBrand();
  return (
    <>
      {brand.logo === null ? <Mark /> : <img src={brand.logo} alt="" className="size-7 object-contain" />}
      <span className="min-w-0 truncate text-lg font-semibold tracking-tight">{brand.name}</span>
    </>
  );
}
