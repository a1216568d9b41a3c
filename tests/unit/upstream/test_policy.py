"""Which addresses may be called, in every spelling that we could think of."""

import pytest

from agentui.errors import UpstreamUnreachable
from agentui.upstream.policy import AddressPolicy

ALWAYS_FINE = [
    "https://api.openai.com/v1/chat/completions",
    "http://api.example:8080/v1?x=1#y",
    "HTTPS://API.EXAMPLE/",
    "https://8.8.8.8/",
    "http://[2606:4700:4700::1111]/",
    "http://bücher.example/",
    "http://my_model-1.example./",
    "http://3com.example/",
]
FINE_WHEN_PRIVATE_IS_ALLOWED = [
    "http://127.0.0.1:11434",
    "http://127.255.255.254/",
    "http://[::1]:8080/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://[fd12:3456::1]/",
    "http://[fec0::1]/",
    "http://１２７.0.0.1/",
]
NEVER_FINE = [
    # other schemes, and no scheme
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/",
    "ftp://api.example/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "data:text/plain,x",
    "api.example/v1",
    "//api.example/v1",
    "http:/api.example/",
    "http:api.example",
    "",
    "http://",
    "http:///v1",
    # metadata, link-local, multicast, unspecified
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.0.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://[fe80::1]/",
    "http://[febf::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://[ff02::1]/",
    "http://255.255.255.255/",
    "http://240.0.0.1/",
    # IPv4 in disguise
    "http://2130706433/",
    "http://2852039166/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0177.0.0.1/",
    "http://0251.0376.0251.0376/",
    "http://127.1/",
    "http://127.0.1/",
    "http://169.254.43518/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://1/",
    "http://0/",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://example.0x7f/",
    "http://１６９.２５４.１６９.２５４/",
    "http://169。254。169。254/",
    "http://①⑥⑨.254.169.254/",
    "http://127.0.0.%31/",
    # IPv4 inside IPv6
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2001:0:4136:e378:8000:63bf:5601:5601]/",
    "http://[::ffff:0:169.254.169.254]/",
    "http://[::ffff:0:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://[2002:7f00:1::1]/",
    "http://[2620::5efe:169.254.169.254]/",
    "http://[2620::200:5efe:a9fe:a9fe]/",
    "http://[fd00:42::42]/",
    "http://[fd00:ec2::23]/",
    # dots and digits of other alphabets
    "http://169．254．169．254/",
    "http://169｡254｡169｡254/",
    "http://127。0。0。1./",
    "http://⑯⑨.254.169.254/",
    "http://𝟏𝟔𝟗.𝟐𝟓𝟒.𝟏𝟔𝟗.𝟐𝟓𝟒/",
    "http://169.254.169.254\u200b/",
    "http://169.254.169.254%2f@api.example/",
    # one address, shortened and lengthened
    "http://0xa9fea9fe/",
    "http://025177524776/",
    "http://0251.254.169.254/",
    "http://0xA9.254.169.254/",
    "http://169.16689662/",
    "http://0000169.254.169.254/",
    "http://169.254.169.254./",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://127.0.0.1.:80/",
    "http://4294967295/",
    # credentials, zones, characters, broken hosts
    "http://user@api.example/",
    "http://user:pass@api.example/",
    "http://@api.example/",
    "http://api.example@169.254.169.254/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://api.example\\@169.254.169.254/",
    "http://api.example\r\nHost: evil/",
    "http://api .example/",
    "http://api.exam\tple/",
    "http://api%2eexample/",
    "http://a,b/",
    "http://[::1",
    "http://[::1]x/",
    "http://[zz::1]/",
    "http://api.example:99999/",
    "http://api.example:port/",
    "http://\u0000/",
]


@pytest.mark.parametrize("url", ALWAYS_FINE)
@pytest.mark.parametrize("allow_private", [True, False])
def test_public_addresses_may_be_called(url: str, allow_private: bool) -> None:
    assert AddressPolicy(allow_private=allow_private).check_url(url).raw_host


@pytest.mark.parametrize("url", FINE_WHEN_PRIVATE_IS_ALLOWED)
def test_private_addresses_may_be_called_when_allowed_only(url: str) -> None:
    assert AddressPolicy(allow_private=True).check_url(url).raw_host
    with pytest.raises(UpstreamUnreachable):
        AddressPolicy(allow_private=False).check_url(url)


@pytest.mark.parametrize("url", NEVER_FINE)
@pytest.mark.parametrize("allow_private", [True, False])
def test_some_addresses_are_never_called(url: str, allow_private: bool) -> None:
    with pytest.raises(UpstreamUnreachable) as caught:
        AddressPolicy(allow_private=allow_private).check_url(url)
    assert "pass" not in str(caught.value) and "user" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "::ffff:0:169.254.169.254",
        "::169.254.169.254",
        "fe80::1%eth0",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:5601:5601",
        "2620::5efe:a9fe:a9fe",
        "fd00:ec2::254",
        "fd00:42::42",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "255.255.255.255",
    ],
)
def test_an_address_that_a_name_leads_to_is_judged_for_what_it_is(address: str) -> None:
    assert AddressPolicy(allow_private=True).forbids(address, "name.example", 80)


def test_a_trusted_origin_opens_its_own_port_only_and_no_metadata() -> None:
    policy = AddressPolicy(allow_private=False, trusted=["http://demo.example:7861/x"])
    assert policy.forbids("127.0.0.1", "demo.example", 7861) is None
    assert policy.forbids("::1", "demo.example", 7861) is None
    assert policy.forbids("127.0.0.1", "demo.example", 80)
    assert policy.forbids("127.0.0.1", "other.example", 7861)
    assert policy.forbids("169.254.169.254", "demo.example", 7861)
