import { Link } from "@tanstack/react-router";
import { createContext, type ReactNode, useContext } from "react";

export type AdminSearch = { [name: string]: string | undefined };

export type AdminPlace = {
  /** The named parts of the page's path. */
  params: Readonly<Record<string, string>>;
  /** The search parameters, which hold filters. */
  search: AdminSearch;
  /** Changes search parameters; an empty value removes one. */
  change(part: AdminSearch): void;
};

const AdminPlaceContext = createContext<AdminPlace>({ params: {}, search: {}, change: () => {} });

export const AdminPlaceProvider = AdminPlaceContext.Provider;

export function useAdminPlace(): AdminPlace {
  return useContext(AdminPlaceContext);
}

type AdminLinkProps = {
  /** Below `/console/admin`, such as `accounts/acct_…`. */
  to: string;
  search?: AdminSearch;
  className?: string;
  children: ReactNode;
};

/** A link to an operators' page. */
export function AdminLink({ to, search = {}, className, children }: AdminLinkProps) {
  return (
    <Link
      to="/console/admin/$"
      params={{ _splat: to }}
      search={search}
      {...(className === undefined ? {} : { className })}
    >
      {children}
    </Link>
  );
}
