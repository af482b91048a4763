//! SSRF guard: pages may be fetched only from the public internet.

use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

/// Address ranges that look ordinary but are not the public internet, and the metadata services of clouds: RFC 6890 and
/// its successors, as registered with IANA.
const FORBIDDEN: [&str; 28] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    // Tunnels and translations, which contain another address, and addresses for documentation and benchmarks.
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "2620:4f:8000::/48",
    "3fff::/20",
    // Everything except global unicast: loopback, mapped and translated addresses, unique local, link local, multicast.
    "::/3",
    "4000::/2",
    "8000::/1",
    "64:ff9b::/96",
];

static NETWORKS: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    FORBIDDEN
        .iter()
        .map(|network| network.parse().expect("the networks above are written properly: a test reads them"))
        .collect()
});

/// The addresses that a fetch may connect to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// Exceptions, for tests that serve pages themselves.
    pub(crate) also: Vec<SocketAddr>,
}

impl Guard {
    /// Whether a connection to this address and port is allowed.
    pub(crate) fn allows(&self, address: SocketAddr) -> bool {
        self.also.contains(&address) || is_public(address.ip())
    }
}

/// Whether the address is on the public internet. An IPv4-mapped IPv6 address is checked as IPv4.
pub(crate) fn is_public(address: IpAddr) -> bool {
    let address = address.to_canonical();
    !NETWORKS.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for (address, public) in [
            ("93.184.216.34", true),
            ("8.8.8.8", true),
            ("172.15.255.255", true),
            ("172.32.0.1", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("2606:2800:220:1:248:1893:25c8:1946", true),
            ("2a00:1450:4001:80e::200e", true),
            ("::ffff:8.8.8.8", true),
            ("0.0.0.0", false),
            ("10.255.255.255", false),
            ("100.100.100.200", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("168.63.129.16", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.192", false),
            ("192.168.1.1", false),
            ("198.19.255.255", false),
            ("224.0.0.251", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b:1::a00:1", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2002:7f00:1::", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("5f00::1", false),
        ] {
            assert_eq!(is_public(address.parse().expect(address)), public, "{address}");
        }
    }

    #[test]
    fn exceptions_are_for_one_port() {
        let guard = Guard { also: vec!["127.0.0.1:8080".parse().expect("an address")] };
        assert!(guard.allows("127.0.0.1:8080".parse().expect("an address")));
        assert!(!guard.allows("127.0.0.1:80".parse().expect("an address")));
    }
}
