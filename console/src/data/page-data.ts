/** What the server writes into the page, so that the first paint needs no answer. */
export interface PageData {
  readonly version: string;
  readonly deployment: string;
  /** Only that a session cookie came along; whether it is still good, the first call tells. */
  readonly signedIn: boolean;
  readonly features: {
    readonly bus: boolean;
    readonly passwords: boolean;
    /** Whether "Keep me signed in" is offered. */
    readonly remember: boolean;
    /** Whether people with addresses of some domains create their own accounts. */
    readonly signUp: boolean;
    readonly mail: boolean;
    readonly emailConfirmation: boolean;
    readonly marketplace: boolean;
    readonly hosted: boolean;
  };
}

const NONE: PageData = {
  version: '',
  deployment: '',
  signedIn: true,
  features: {
    bus: true,
    passwords: true,
    remember: true,
    signUp: false,
    mail: false,
    emailConfirmation: false,
    marketplace: false,
    hosted: false,
  },
};

export const pageData: PageData = read();

function read(): PageData {
  try {
    return { ...NONE, ...(JSON.parse(document.getElementById('atrium')?.textContent ?? '{}') as Partial<PageData>) };
  } catch {
    return NONE;
  }
}
