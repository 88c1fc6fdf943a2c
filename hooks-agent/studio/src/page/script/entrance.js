// Asks for the page again, now from its own site, at the same place.

location.replace(`/?from=link${location.hash}`);
